import type { Settings } from "./settings.ts";

/** What every command works with; tests give their own. */
export type Context = {
  readonly settings: Settings;
  readonly print: (answer: Printable) => void;
  /** For people only, beside the answer. */
  readonly note: (line: string) => void;
};

/** One answer in two forms: `json` for programs, `text` for people. */
export type Printable = { readonly json: unknown; readonly text: string };
