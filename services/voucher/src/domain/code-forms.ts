/**
 * One way to write a letter (`text`), and the next text in the order of bytes, which ends the range of codes that
 * continue with it.
 */
export type LetterForm = { readonly text: string; readonly next: string };

/** Comparing more letters would hardly exclude further codes. */
const MAX_LETTERS = 40;

/** Characters beyond ASCII whose lower case is a letter of ASCII, or begins with one. */
const OTHER_FORMS: Readonly<Record<string, readonly string[]>> = {
  // The capital I with a dot, which JavaScript lower-cases to an i with a dot.
  i: ["\u0130", "i\u0307"],
  // The sign of Kelvin.
  k: ["\u212A"],
};

/**
 * For each letter at the beginning of `text`, the forms with which matching codes can continue if letter case is
 * ignored. Covers the first ASCII characters only, because these have few forms.
 */
export function codeForms(text: string): readonly (readonly LetterForm[])[] {
  const [ascii = ""] = /^[ -~]*/.exec(text) ?? [];
  return Array.from(ascii.slice(0, MAX_LETTERS), (letter) => {
    const lower = letter.toLowerCase();
    const forms = new Set([lower, letter.toUpperCase(), ...(OTHER_FORMS[lower] ?? [])]);
    return [...forms].map((form) => ({ text: form, next: nextOf(form) }));
  });
}

/** Texts that begin with this one sort before the next. */
const nextOf = (text: string): string =>
  text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
