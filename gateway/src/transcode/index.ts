export {
  type BoundTranscoder,
  createTranscoder,
  type RequestParts,
  type Transcoder,
} from "./transcoder.ts";
