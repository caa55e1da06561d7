import type { StartProgress } from "./progress.ts";
import type { Settings } from "./settings.ts";

/** The environment of a command; tests provide their own. */
export type Context = {
  readonly settings: Settings;
  readonly print: (result: Printable) => void;
  /** Writes a note for people, beside the result. */
  readonly note: (line: string) => void;
  /** Shows progress on a terminal. */
  readonly startProgress: StartProgress;
};

/** A result in two forms: `json` for programs, `text` for people. */
export type Printable = { readonly json: unknown; readonly text: string };
