import { writeFileSync } from "node:fs";

import { cases } from "./cases/all.ts";
import { catalogue } from "./cases/catalogue.ts";
import { randomCase } from "./cases/random.ts";
import { calculate } from "./oracle/calculate.ts";
import type { Vectors } from "./vector.ts";

/** Number of random cases in addition to the hand-written ones. */
const RANDOM_CASES = 100;

/** All vectors, with the results that the oracle computes. */
export function moneyVectors(): Vectors {
  const random = Array.from({ length: RANDOM_CASES }, (_, at) => randomCase(at + 1));
  return {
    catalogue,
    vectors: [...cases, ...random].map((one) => ({ ...one, expected: calculate(one, catalogue) })),
  };
}

/** One line per vector, so that a diff shows each changed vector once. */
export function textOf({ catalogue: known, vectors }: Vectors): string {
  const lines = vectors.map((vector) => `    ${JSON.stringify(vector)}`);
  return `{\n  "catalogue": ${JSON.stringify(known)},\n  "vectors": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

if (import.meta.main) {
  writeFileSync(new URL("money-vectors.json", import.meta.url), textOf(moneyVectors()));
}
