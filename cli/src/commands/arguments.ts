import type { Command } from "commander";

import { usageError } from "../cli-error.ts";

export const encode = encodeURIComponent;

/** What cannot be undone runs with --yes only: commands stand in scripts, where nobody can be asked. */
export const confirmed = (command: Command): Command =>
  command.option("--yes", "really do it").hook("preAction", (called) => {
    if (called.opts<{ yes?: boolean }>().yes !== true) {
      throw usageError("this cannot be undone; add --yes to do it");
    }
  });
