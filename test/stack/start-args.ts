import { readFileSync } from "node:fs";
import path from "node:path";

import { ROOT } from "./process.ts";

/** The arguments of Node of `npm start`, of this checkout or of another one. */
export function startArgs(checkout = ROOT): readonly string[] {
  const manifest = readFileSync(path.join(checkout, "package.json"), "utf8");
  const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(" ").filter((word) => word.startsWith("--"));
}
