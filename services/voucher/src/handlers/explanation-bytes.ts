import { toBinary } from "@bufbuild/protobuf";
import { type Explanation, ExplanationSchema } from "@scrip/proto/scrip/common/v1/explanation_pb";

export const encodeExplanation = (explanation: Explanation): Uint8Array =>
  toBinary(ExplanationSchema, explanation);
