import type { TextRange } from "@scrip/filters";

import { FOLDED } from "./voucher.ts";

/** Letters whose key is in lower case and that lower-case themselves to a letter of ASCII, beside that letter. */
const OTHER_FORMS: Readonly<Record<string, { readonly exact: string; readonly folded: string }>> = {
  // The dotted capital I, whose lower case in JavaScript is an i with a dot above.
  i: { exact: "\u0130", folded: "i\u0307" },
  // The sign of Kelvin.
  k: { exact: "\u212A", folded: "k" },
};

/** Ranges for one beginning. Each is a lookup, so only the first letters tell codes apart. */
const MAX_RANGES = 32;

/**
 * Ranges of code keys, in the order of their bytes, that contain the keys of all codes that begin with `prefix` in any letter
 * case, and others; undefined: one range would be as good as none.
 */
export function codePrefixRanges(prefix: string): readonly TextRange[] | undefined {
  let exact: readonly string[] = [""];
  let folded: readonly string[] = [FOLDED];
  for (const letter of leadingAscii(prefix)) {
    const lower = letter.toLowerCase();
    const other = OTHER_FORMS[lower];
    const exactForms = new Set([lower, letter.toUpperCase(), ...(other ? [other.exact] : [])]);
    const foldedForms = new Set([lower, ...(other ? [other.folded] : [])]);
    if (exact.length * exactForms.size + folded.length * foldedForms.size > MAX_RANGES) break;
    exact = continued(exact, exactForms);
    folded = continued(folded, foldedForms);
  }
  return exact[0] === "" ? undefined : [...exact, ...folded].map(rangeOf);
}

const leadingAscii = (text: string): string => /^[ -~]*/.exec(text)?.[0] ?? "";

const continued = (texts: readonly string[], forms: ReadonlySet<string>): readonly string[] =>
  texts.flatMap((text) => [...forms].map((form) => text + form));

/** No text that begins with `from` sorts behind the next sibling of its last character. */
const rangeOf = (from: string): TextRange => ({
  from,
  to: from.slice(0, -1) + String.fromCharCode(from.charCodeAt(from.length - 1) + 1),
});
