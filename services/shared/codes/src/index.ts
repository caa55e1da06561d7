export {
  capacityOf,
  type CodeConfig,
  type CodeMask,
  drawCode,
  isPrintable,
  mergeCodeConfig,
  type NormalCodeConfig,
  normalize,
  parseCodeConfig,
  type ParsedCodeConfig,
  patternOf,
} from "./code-config.ts";
