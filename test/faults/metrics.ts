import type { Stack } from "../stack/compositions.ts";

/** The sum over all processes of a metric; `labels` are those that its line must contain, such as `service="voucher"`. */
export async function sumOfMetric(
  { metrics }: Pick<Stack, "metrics">,
  name: string,
  labels = "",
): Promise<number> {
  const texts = await Promise.all(
    Object.values(metrics).map(async (url) => (await fetch(url)).text()),
  );
  const isMeant = (line: string): boolean =>
    /^[{ ]/.test(line.slice(name.length)) && line.startsWith(name) && line.includes(labels);
  return texts
    .flatMap((text) => text.split("\n").filter(isMeant))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
