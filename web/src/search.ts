// Search by words: all of them somewhere in name, object or file. A capital letter counts, as in --filter.
import { createMemo } from "solid-js";
import { functions, placeOf, type Function } from "./profile";
import { search } from "./state";

function wordsOf(query: string): { words: string[]; exact: boolean } {
  const exact = /\p{Lu}/u.test(query);
  return { words: (exact ? query : query.toLowerCase()).split(/\s+/).filter(Boolean), exact };
}

function matches(entry: Function, { words, exact }: { words: string[]; exact: boolean }): boolean {
  const whole = `${entry.name}\n${entry.full}\n${entry.object}\n${placeOf(entry)}`;
  const where = exact ? whole : whole.toLowerCase();
  return words.every((word) => where.includes(word));
}

/** Ids of what is found; null without a search. */
let found: () => Set<number> | null;

/** REQUIRES: called once, inside the page's root. */
export function followSearch() {
  found = createMemo(() => {
    const query = wordsOf(search());
    if (query.words.length === 0) return null;
    return new Set(functions.filter((entry) => matches(entry, query)).map((entry) => entry.id));
  });
}

export const hits = () => found();
export const isHit = (entry: Function) => found()?.has(entry.id) ?? false;
