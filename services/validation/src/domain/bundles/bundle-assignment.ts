import type { BundlePart } from "@scrip/rules";

import { smallestOf, sumOf } from "../order/minor-units.ts";
import type { LineState } from "../order/order-state.ts";

/** Assigns the units of an order to the parts of a bundle. docs/order-calculation.md#bundles */

export type BundleDemand = {
  readonly parts: readonly BundlePart[];
  readonly lines: readonly LineState[];
  /** Whether each part can use each line. */
  readonly usable: readonly (readonly boolean[])[];
};

/**
 * An upper bound: the units that each part can use, and the units that all parts can use together.
 */
export function upperBound({ parts, lines, usable }: BundleDemand, limit: bigint): bigint {
  const unitsWhere = (isWanted: (line: number) => boolean): bigint =>
    sumOf([...lines.entries()], ([at, { initialQuantity }]) =>
      isWanted(at) ? initialQuantity : 0n,
    );
  const together = sumOf(parts, ({ quantity }) => quantity);
  return smallestOf(
    limit,
    unitsWhere((at) => usable.some((row) => row[at] === true)) / together,
    ...parts.map(
      ({ quantity }, part) => unitsWhere((at) => usable[part]?.[at] === true) / quantity,
    ),
  );
}

export type BundleAssignment = {
  /** Units of each line assigned to each part, by the positions of both. */
  readonly assigned: readonly (readonly bigint[])[];
  /** Units that each part lacks. */
  readonly missing: readonly bigint[];
  readonly isComplete: boolean;
};

/**
 * Assigns `times` the quantity of every part. If a part finds no free units, units of other parts
 * are reassigned along augmenting paths, so that the assignment is maximal.
 */
export function assignUnits(
  { parts, lines, usable }: BundleDemand,
  times: bigint,
): BundleAssignment {
  const assigned = parts.map(() => lines.map(() => 0n));
  const free = lines.map((line) => line.initialQuantity);
  const missing = parts.map(({ quantity }) => quantity * times);
  for (const part of parts.keys()) {
    let need = missing[part] ?? 0n;
    need -= assignFreeUnits(part, need, { usable, assigned, free });
    while (need > 0n) {
      const moved = augment(part, need, { usable, assigned, free });
      if (moved === 0n) break;
      need -= moved;
    }
    missing[part] = need;
  }
  return { assigned, missing, isComplete: missing.every((need) => need === 0n) };
}

type Flow = {
  readonly usable: readonly (readonly boolean[])[];
  readonly assigned: bigint[][];
  readonly free: bigint[];
};

/** Assigns free units without reassigning others; returns how many. */
function assignFreeUnits(part: number, need: bigint, flow: Flow): bigint {
  let moved = 0n;
  for (const [line, fits] of (flow.usable[part] ?? []).entries()) {
    if (moved === need) break;
    const isFree = fits && (flow.free[line] ?? 0n) > 0n;
    if (isFree) moved += moveUnits({ part, line, from: null }, need - moved, flow);
  }
  return moved;
}

type PathStep = { readonly part: number; readonly line: number; readonly from: PathStep | null };

/**
 * Moves units along the shortest paths from a part to lines with free units; returns how many. One
 * search serves all lines that it finds: a path whose units are exhausted moves nothing.
 */
function augment(start: number, need: bigint, flow: Flow): bigint {
  const { usable, assigned, free } = flow;
  let moved = 0n;
  const seen = new Set<number>();
  // A part is visited once: it sees all lines that it can use.
  const reached = new Set([start]);
  const queue: { readonly part: number; readonly from: PathStep | null }[] = [
    { part: start, from: null },
  ];
  for (const { part, from } of queue) {
    for (const [line, fits] of (usable[part] ?? []).entries()) {
      if (!fits || seen.has(line)) continue;
      seen.add(line);
      const step: PathStep = { part, line, from };
      if ((free[line] ?? 0n) > 0n) moved += moveUnits(step, need - moved, flow);
      if (moved === need) return moved;
      for (const [holder, units] of assigned.entries()) {
        if (reached.has(holder) || (units[line] ?? 0n) === 0n) continue;
        reached.add(holder);
        queue.push({ part: holder, from: step });
      }
    }
  }
  return moved;
}

/** Each part of the path takes units of its line from the next one. */
function moveUnits(last: PathStep, need: bigint, { assigned, free }: Flow): bigint {
  let units = smallestOf(need, free[last.line] ?? 0n);
  for (let step = last; step.from !== null; step = step.from) {
    units = smallestOf(units, assigned[step.part]?.[step.from.line] ?? 0n);
  }
  free[last.line] = (free[last.line] ?? 0n) - units;
  for (let step: PathStep | null = last; step !== null; step = step.from) {
    add(assigned, step.part, step.line, units);
    if (step.from !== null) add(assigned, step.part, step.from.line, -units);
  }
  return units;
}

function add(assigned: bigint[][], part: number, line: number, units: bigint): void {
  const row = assigned[part];
  if (row !== undefined) row[line] = (row[line] ?? 0n) + units;
}
