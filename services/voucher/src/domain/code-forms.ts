/** Ways to write a text at the same place: the text, and the next one in the order of their bytes. */
export type Form = { readonly text: string; readonly next: string };

/** A longer beginning leaves no more codes out. */
const MAX_LETTERS = 40;

/** Characters beyond ASCII whose lower case is a letter of ASCII, or begins with one. */
const OTHER_FORMS: Readonly<Record<string, readonly string[]>> = {
  // The capital I with a dot, which JavaScript lower-cases to an i with a dot.
  i: ["\u0130", "i\u0307"],
  // The sign of Kelvin.
  k: ["\u212A"],
};

/**
 * How keys of codes may continue, letter by letter, that begin with `text` in any letter case: for its first characters of
 * ASCII, whose forms are few.
 */
export function codeForms(text: string): readonly (readonly Form[])[] {
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
