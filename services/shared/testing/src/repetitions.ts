/**
 * How often a test repeats what fails at random or only under load. FULL=1 chooses the larger count; the
 * smaller one makes the failure likely as well, in a run of all tests that ends soon.
 */
export const repetitions = (counts: { readonly usual: number; readonly full: number }): number =>
  process.env["FULL"] === "1" ? counts.full : counts.usual;
