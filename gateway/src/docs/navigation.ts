/** The pages of docs/ in the order and groups of its README. */
export type NavigationGroup = {
  readonly title: string;
  readonly pages: readonly { readonly name: string; readonly title: string }[];
};

/** Reads groups (`## Start`) and pages (`| [Errors](errors.md) | … |`) of the index. */
export function readNavigation(index: string): readonly NavigationGroup[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")),
      pages: [...section.matchAll(/^\| \[([^\]]+)\]\(([\w-]+)\.md\)/gm)].map((link) => ({
        title: link[1] ?? "",
        name: link[2] ?? "",
      })),
    }));
}
