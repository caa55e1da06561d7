/**
 * The gateway serves one file of @scalar/api-reference: the standalone bundle, which contains all that
 * it needs. The 270 packages of its other entry points would be 230 MB that nothing imports.
 */
export const hooks = {
  readPackage(manifest) {
    if (manifest.name === "@scalar/api-reference") manifest.dependencies = {};
    return manifest;
  },
};
