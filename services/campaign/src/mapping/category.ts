import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CategorySchema,
  type Category as CategoryMessage,
} from "@scrip/proto/scrip/common/v1/category_pb";

import type { Category } from "../domain/category.ts";

export function categoryToProto(category: Category): CategoryMessage {
  return create(CategorySchema, {
    id: category.id,
    name: category.name,
    hierarchy: category.hierarchy,
    createdAt: timestampFromDate(category.createdAt),
    ...(category.updatedAt !== null && { updatedAt: timestampFromDate(category.updatedAt) }),
  });
}
