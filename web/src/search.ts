// Search by words: all of them somewhere in name, object or file. A capital letter counts, as in --filter.
import { createMemo } from "solid-js";
import type { DiffRow } from "./data";
import { data, functions, placeOf, type Function } from "./profile";
import { search } from "./state";

function wordsOf(query: string): { words: string[]; exact: boolean } {
  const exact = /\p{Lu}/u.test(query);
  return { words: (exact ? query : query.toLowerCase()).split(/\s+/).filter(Boolean), exact };
}

let query: () => ReturnType<typeof wordsOf>;

function hasWords(whole: string): boolean {
  const { words, exact } = query();
  const where = exact ? whole : whole.toLowerCase();
  return words.every((word) => where.includes(word));
}

const matches = (entry: Function) => hasWords(`${entry.name}\n${entry.full}\n${entry.object}\n${placeOf(entry)}`);

/** Rows of a comparison that are no function of this profile any more. */
const gone = (data.diff?.rows ?? []).filter((row) => row.functions.length === 0);

/** Ids of what is found; null without a search. */
let found: () => Set<number> | null;
let foundGone: () => Set<DiffRow>;

/** REQUIRES: called once, inside the page's root. */
export function followSearch() {
  query = createMemo(() => wordsOf(search()));
  found = createMemo(() => (query().words.length === 0 ? null : new Set(functions.filter(matches).map((entry) => entry.id))));
  foundGone = createMemo(() => new Set(gone.filter((row) => hasWords(`${row.name}\n${row.object}`))));
}

export const hits = () => found();
export const goneHits = () => foundGone();
export const isRowHit = (row: DiffRow) =>
  found() !== null && (row.functions.some((id) => found()!.has(id)) || foundGone().has(row));
export const isHit = (entry: Function) => found()?.has(entry.id) ?? false;
