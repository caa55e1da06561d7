export {
  type CodeConfig,
  isPrintable,
  mergeCodeConfig,
  type NormalCodeConfig,
  normalize,
  parseCodeConfig,
  type ParsedCodeConfig,
} from "./code-config.ts";
export {
  allCodesOf,
  capacityOf,
  capacityViolation,
  type CodeMask,
  generateCode,
  entropyBitsOf,
  exhaustedText,
  patternOf,
} from "./generate-code.ts";
export { randomIndex, sampleOf } from "./random-index.ts";
