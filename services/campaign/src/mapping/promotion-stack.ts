import { create, type JsonObject } from "@bufbuild/protobuf";
import { instantToProto, optionalInstantToProto } from "@scrip/mapping";
import {
  type PromotionStack,
  PromotionStackSchema,
} from "@scrip/proto/scrip/campaign/v1/promotions_pb";

import type { StackRecord } from "../store/promotion-stacks.ts";
import { categoryToProto } from "./category.ts";

export const stackToProto = ({ stack, category }: StackRecord): PromotionStack =>
  create(PromotionStackSchema, {
    id: stack.id,
    name: stack.name,
    tiers: { ids: [...stack.tierIds], hierarchyMode: "MANUAL" },
    campaignId: stack.campaignId,
    categoryId: category?.id,
    categories: category === null ? [] : [categoryToProto(category)],
    metadata: stack.metadata as JsonObject,
    createdAt: instantToProto(stack.createdAt),
    updatedAt: optionalInstantToProto(stack.updatedAt),
  });
