import type { VectorBundle, VectorCatalogue, VectorRule } from "../vector.ts";
import type { OracleOrder } from "./order.ts";
import { matches } from "./selection.ts";

/** Multiplier of a discount (docs/order-calculation.md#bundles): the smallest bundle count of all multiplying rules. */
export function bundlesIn(
  order: OracleOrder,
  rules: readonly VectorRule[],
  catalogue: VectorCatalogue,
): bigint {
  const found = rules.flatMap(({ bundle_rules: bundle }) =>
    bundle === undefined || bundle.multiply === false
      ? []
      : [mostBundles(order, bundle, catalogue)],
  );
  return found.length === 0 ? 1n : found.reduce((a, b) => (a < b ? a : b));
}

/**
 * The largest possible number of bundles. By Hall's theorem an assignment exists exactly when, for every
 * group of parts, the lines that match any of them contain enough units.
 */
export function mostBundles(
  order: OracleOrder,
  { limit = 1, parts }: VectorBundle,
  catalogue: VectorCatalogue,
): bigint {
  for (let m = limit; m > 0; m -= 1) {
    const fits = Array.from({ length: 2 ** parts.length - 1 }, (_, at) => at + 1).every((group) => {
      const chosen = parts.filter((_, part) => (group >> part) % 2 === 1);
      const need = chosen.reduce((sum, { quantity }) => sum + quantity * m, 0);
      const supply = order.lines
        .filter((line) => chosen.some((part) => matches(part, line, catalogue)))
        .reduce((sum, { initialQuantity }) => sum + Number(initialQuantity), 0);
      return need <= supply;
    });
    if (fits) return BigInt(m);
  }
  return 0n;
}
