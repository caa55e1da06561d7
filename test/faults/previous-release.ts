import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { ROOT } from "../stack/process.ts";

export type Release = { readonly revision: string; readonly folder: string };

/** Copies the code of PREVIOUS, or else of the newest tag, and installs its packages; removed when this process ends. */
export function checkOutPreviousRelease(): Release {
  const revision = process.env["PREVIOUS"] ?? newestTag();
  if (revision === undefined) {
    throw new Error(
      "the repository has no tags: name the commit of the previous release, PREVIOUS=<commit>",
    );
  }
  const folder = mkdtempSync(path.join(tmpdir(), "scrip-previous-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const archive = path.join(folder, ".archive.tar");
  execFileSync("git", ["archive", "--output", archive, revision], { cwd: ROOT });
  execFileSync("tar", ["-xf", archive], { cwd: folder });
  // Any command installs the packages first.
  const install = ["scripts/run.mjs", "node", "--version"];
  execFileSync(process.execPath, install, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return { revision, folder };
}

function newestTag(): string | undefined {
  const args = ["describe", "--tags", "--abbrev=0"];
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
