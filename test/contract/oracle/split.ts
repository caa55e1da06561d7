import { type Fraction, divided, floor, isLess, plus, times } from "./fractions.ts";

export type SplitPart = {
  readonly line: number;
  readonly cap: bigint;
  readonly weight: Fraction;
};

/**
 * See docs/order-calculation.md#rounding: largest remainder, ties go to the earlier line. Shares above a cap are
 * set to the cap, and the rest is split among the other lines.
 */
export function split(amount: bigint, parts: readonly SplitPart[]): Map<number, bigint> {
  const shares = new Map<number, bigint>();
  let open = parts.filter(({ cap, weight }) => cap > 0n && weight.n > 0n);
  let left = amount;
  const room = open.reduce((sum, { cap }) => sum + cap, 0n);
  if (left > room) left = room;
  for (;;) {
    const exact = exactShares(left, open);
    const above = open.filter((_, at) => isLess({ n: open[at]!.cap, d: 1n }, exact[at]!));
    if (above.length === 0) break;
    for (const { line, cap } of above) {
      shares.set(line, cap);
      left -= cap;
    }
    open = open.filter((part) => !above.includes(part));
  }
  for (const [line, share] of largestRemainder(left, open)) shares.set(line, share);
  return shares;
}

function exactShares(amount: bigint, parts: readonly SplitPart[]): Fraction[] {
  const sum = parts.reduce((all, { weight }) => plus(all, weight), { n: 0n, d: 1n });
  return parts.map(({ weight }) => divided(times({ n: amount, d: 1n }, weight), sum));
}

function largestRemainder(amount: bigint, parts: readonly SplitPart[]): Map<number, bigint> {
  const exact = exactShares(amount, parts);
  const rows = parts.map(({ line }, at) => {
    const share = exact[at]!;
    return { line, share: floor(share), rest: { n: share.n % share.d, d: share.d } };
  });
  let missing = amount - rows.reduce((sum, { share }) => sum + share, 0n);
  const neediest = rows.toSorted((a, b) => {
    if (isLess(b.rest, a.rest)) return -1;
    return isLess(a.rest, b.rest) ? 1 : a.line - b.line;
  });
  for (const row of neediest) {
    if (missing === 0n) break;
    row.share += 1n;
    missing -= 1n;
  }
  return new Map(rows.map(({ line, share }) => [line, share]));
}
