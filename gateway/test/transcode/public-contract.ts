import type { DescMessage } from "@bufbuild/protobuf";
import { type Binding, bindingsOf } from "@scrip/contract";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import { QualificationService } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

export const bindings = bindingsOf([
  TokenService,
  ProjectService,
  MetadataSchemaService,
  StackingRulesService,
  VoucherService,
  RedemptionService,
  ValidationService,
  QualificationService,
  CategoryService,
]);

export function bindingAt(httpMethod: string, path: string): Binding {
  const found = bindings.find((each) => each.httpMethod === httpMethod && each.path === path);
  if (found === undefined) throw new Error(`no ${httpMethod} ${path}`);
  return found;
}

/** Every message that is part of a public request or response. */
export function publicMessages(): DescMessage[] {
  const found = new Map<string, DescMessage>();
  const visit = (desc: DescMessage): void => {
    if (found.has(desc.typeName) || desc.typeName.startsWith("google.")) return;
    found.set(desc.typeName, desc);
    for (const { message } of desc.fields) if (message !== undefined) visit(message);
  };
  for (const { method } of bindings) {
    visit(method.input);
    visit(method.output);
  }
  visit(ErrorSchema);
  return [...found.values()];
}
