/** Thrown inside this package only, for validation rules that cannot be parsed. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** The result of `read`, or the violation that it threw. */
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
