/**
 * The API reference is served as it is published, bundled for browsers: nothing of it runs in Node, and none
 * of its two hundred dependencies is read.
 */
const servedAsBundled = new Set(['@scalar/api-reference']);

module.exports = {
  hooks: {
    readPackage(manifest) {
      if (!servedAsBundled.has(manifest.name)) return manifest;
      const { dependencies: _, engines: __, ...bundled } = manifest;
      return bundled;
    },
  },
};
