/**
 * The hierarchy of each new tier of a campaign: the requested one, or one more than the highest so far,
 * starting with 1.
 */
export function assignHierarchies(requested: readonly (bigint | undefined)[]): readonly bigint[] {
  let next = 1n;
  return requested.map((wanted) => {
    const hierarchy = wanted ?? next;
    if (hierarchy >= next) next = hierarchy + 1n;
    return hierarchy;
  });
}
