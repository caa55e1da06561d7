import type { Standalone } from "./standalone.ts";

/**
 * What a start prints once Scrip is ready. The keys of the first start are shown on a terminal only:
 * other output ends in log files and log collectors, which the keys must not reach.
 */
export function welcomeText(
  {
    url,
    grpcUrl,
    metrics,
    keysFile,
    keys,
    variables,
  }: Pick<Standalone, "url" | "grpcUrl" | "metrics" | "keysFile" | "keys" | "variables">,
  isTerminal: boolean,
): string {
  const moved = metrics.movedFromDefault ? " (the default port is in use)" : "";
  const lines = [
    "",
    "Scrip is ready.",
    "",
    `  Base URL       ${url}`,
    `  Documentation  ${url}/docs`,
    ...(grpcUrl === undefined ? [] : [`  gRPC           ${grpcUrl}`]),
    `  Metrics        ${metrics.url}${moved}`,
    `  Keys           ${keysFile}`,
  ];
  if (keys === "created" && isTerminal) {
    lines.push("", "The keys of your first project (shown only now):", "");
    for (const [name, value] of Object.entries(variables)) lines.push(`  ${name}=${value}`);
  }
  if (keys === "created" && !isTerminal) {
    lines.push(
      "",
      `The keys of your first project are in ${keysFile}, which only its owner can read.`,
    );
  }
  if (keys === "unknown") {
    lines.push(
      "",
      "The keys of the projects in this database are not in this data folder. To create a key for one:",
      "",
      "  npx scrip projects list",
      "  npx scrip keys create --help",
    );
  }
  lines.push("", "Ctrl-C stops it.", "");
  return lines.join("\n");
}
