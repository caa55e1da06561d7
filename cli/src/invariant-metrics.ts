import { rename, writeFile } from "node:fs/promises";

/** What a check found, in the text format of Prometheus, for the textfile collector of node_exporter. */
export function invariantMetrics(
  findings: readonly {
    readonly invariant: string;
    readonly violations: readonly unknown[];
  }[],
  checkedAt: number,
): string {
  const counts = new Map<string, number>();
  for (const { invariant, violations } of findings) {
    counts.set(invariant, (counts.get(invariant) ?? 0) + violations.length);
  }
  return [
    "# HELP invariant_violations Violations that the last check found, by invariant",
    "# TYPE invariant_violations gauge",
    ...[...counts].map(([name, count]) => `invariant_violations{invariant="${name}"} ${count}`),
    "# HELP invariants_checked_timestamp_seconds When the last check ended",
    "# TYPE invariants_checked_timestamp_seconds gauge",
    `invariants_checked_timestamp_seconds ${Math.round(checkedAt / 1_000)}`,
    "",
  ].join("\n");
}

/** Replaces the file as a whole: the collector may read it at any time. */
export async function writeMetrics(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, file);
}
