// Small pieces that all views share.
import { For, Show, type JSX } from "solid-js";
import { axisSteps, fromTo, percent, range } from "./figures";
import { isHit } from "./search";
import { placeOf, type Function, type Measured } from "./profile";

const at = (share: number) => `${Math.min(100, Math.max(0, 100 * share))}%`;

/** A share with its interval, as a bar: `most` is its full length; of a range what is not known is hatched. Figures stand beside it:
readers of the screen skip it. */
export function Share(props: { of: Measured; most: number; soft?: boolean }) {
  const part = (share: number) => (props.most > 0 ? share / props.most : 0);
  const { low, high } = { low: () => part(props.of.interval.low), high: () => Math.min(1, part(props.of.interval.high)) };
  return (
    <span class="share" classList={{ soft: props.soft }} aria-hidden="true">
      <i style={{ width: at(part(props.of.isRange ? props.of.interval.low : Math.min(1, props.of.share))) }} />
      <Show when={props.of.isRange}>
        <s style={{ left: at(low()), width: at(high() - low()) }} />
      </Show>
      <Show when={props.of.ticks > 0 && !props.of.isRange && !props.of.isEstimate}>
        <u style={{ left: at(low()), width: at(high() - low()) }} />
      </Show>
    </span>
  );
}

export function Axis(props: { most: number; wanted?: number }) {
  const steps = () => axisSteps(100 * props.most, props.wanted);
  return (
    <span class="axis" aria-hidden="true">
      <For each={steps()}>
        {(step, i) => (
          <span style={{ left: at(step / (100 * props.most)) }}>
            {step}
            {i() === steps().length - 1 ? " %" : ""}
          </span>
        )}
      </For>
    </span>
  );
}

export function Choice<T extends string>(props: { label: string; options: { id: T; label: string }[]; value: T; set: (value: T) => void }) {
  return (
    <span class="choice" role="group" aria-label={props.label}>
      {props.label}
      <span class="seg">
        <For each={props.options}>
          {(option) => (
            <button type="button" aria-pressed={props.value === option.id} onClick={() => props.set(option.id)}>
              {option.label}
            </button>
          )}
        </For>
      </span>
    </span>
  );
}

const kUnnamed = /^(\[.+)(\+0x[0-9a-f]+\])$/;

/** "+0x3f0" of "[libfoo.so+0x3f0]", a function without a name: what tells it from others of its object. */
export const offsetIn = (name: string) => kUnnamed.exec(name)?.[2].slice(0, -1);

/** A name of the profile: isolated, so that its letters turn nothing around beside it. Where it has no room its end is left out, of a
function without a name its object. */
export function NameText(props: { name: string; title?: string; hit?: boolean; class?: string }) {
  const parts = () => kUnnamed.exec(props.name);
  return (
    <bdi class={`name ${props.class ?? ""}`} classList={{ hit: props.hit, split: parts() !== null }} title={props.title}>
      <Show when={parts()} fallback={props.name}>
        {(found) => (
          <>
            <span class="of">{found()[1]}</span>
            <span>{found()[2]}</span>
          </>
        )}
      </Show>
    </bdi>
  );
}

export const Name = (props: { of: Function; class?: string }) => (
  <NameText name={props.of.name} title={props.of.full || props.of.name} hit={isHit(props.of)} class={props.class} />
);

/** "libm.so.6 · s_sin.c:123" */
export const ObjectAndPlace = (props: { of: Function }) => (
  <>
    <bdi>{props.of.object}</bdi>
    {placeOf(props.of) ? " · " : ""}
    <bdi>{placeOf(props.of)}</bdi>
  </>
);

export const Figure = (props: { of: Measured }) => (
  <Show when={!props.of.isRange} fallback={<b class="nowrap">{fromTo(props.of.interval)}</b>}>
    <b>{percent(props.of.share)}&nbsp;%</b> <span class="nowrap">{range(props.of.interval)}</span>
  </Show>
);

export const Note = (props: { children: JSX.Element }) => <p class="note">{props.children}</p>;
