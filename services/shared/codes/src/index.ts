export {
  type CodeConfig,
  isPrintable,
  mergeCodeConfig,
  type NormalCodeConfig,
  normalize,
  parseCodeConfig,
  type ParsedCodeConfig,
} from "./code-config.ts";
export { capacityOf, type CodeMask, drawCode, patternOf } from "./draw-code.ts";
