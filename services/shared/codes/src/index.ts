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
  capacityOf,
  capacityViolation,
  type CodeMask,
  drawCode,
  entropyBitsOf,
  exhaustedText,
  patternOf,
} from "./draw-code.ts";
