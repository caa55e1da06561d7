/** Thrown inside this package only, where a validation rule as it was sent cannot be read. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** The answer of `read`, or what it found wrong. */
export function reading<T>(
  read: () => T,
):
  | { readonly kind: "read"; readonly value: T }
  | { readonly kind: "violation"; readonly text: string } {
  try {
    return { kind: "read", value: read() };
  } catch (thrown) {
    if (thrown instanceof Violation) return { kind: "violation", text: thrown.message };
    throw thrown;
  }
}
