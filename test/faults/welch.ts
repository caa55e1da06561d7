type Series = { readonly mean: number; readonly variance: number };

/** Times of two kinds of requests in milliseconds. */
export type Pairs = { readonly pairs: number; readonly near: Series; readonly far: Series };

/** Pairs before the first that counts. */
const WARM_UP = 200;
/** Longer times are those of other work of the machine. */
const KEPT = 0.9;

/** Times two kinds of requests, one of each in a random order per pair. `time` gets the kind and the number of the pair. */
export async function timePairs(
  pairs: number,
  random: () => number,
  time: (isNear: boolean, pair: number) => Promise<number>,
): Promise<Pairs> {
  const times: { readonly near: number; readonly far: number }[] = [];
  for (let pair = -WARM_UP; pair < pairs; pair += 1) {
    const isNearFirst = random() < 0.5;
    const first = await time(isNearFirst, pair);
    const second = await time(!isNearFirst, pair + 0.5);
    if (pair < 0) continue;
    times.push(isNearFirst ? { near: first, far: second } : { near: second, far: first });
  }
  const all = times.flatMap(({ near, far }) => [near, far]).toSorted((a, b) => a - b);
  const limit = all[Math.floor(all.length * KEPT)] ?? 0;
  const kept = times.filter(({ near, far }) => near <= limit && far <= limit);
  return {
    pairs: kept.length,
    near: seriesOf(kept.map(({ near }) => near)),
    far: seriesOf(kept.map(({ far }) => far)),
  };
}

/** Welch's t of two series of equal length: how many standard errors their means are apart. */
export const welch = ({ pairs, near, far }: Pairs): number =>
  (near.mean - far.mean) / Math.sqrt((near.variance + far.variance) / pairs);

function seriesOf(times: readonly number[]): Series {
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  const squares = times.reduce((sum, ms) => sum + (ms - mean) ** 2, 0);
  return { mean, variance: squares / (times.length - 1) };
}
