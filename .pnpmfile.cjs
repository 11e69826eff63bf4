/**
 * The API reference is served as it is published, bundled for browsers: nothing of it runs in Node, and none
 * of its two hundred dependencies is read.
 */
const servedAsBundled = new Set(['@scalar/api-reference']);

/** Generates the clients through the API of the compiler, which TypeScript 7 does not have. */
const usesCompilerApi = 'openapi-typescript';

module.exports = {
  hooks: {
    readPackage(manifest) {
      if (servedAsBundled.has(manifest.name)) {
        const { dependencies: _, engines: __, ...bundled } = manifest;
        return bundled;
      }
      if (manifest.name === usesCompilerApi) {
        const { peerDependencies: _, ...own } = manifest;
        return { ...own, dependencies: { ...manifest.dependencies, typescript: '5.9.3' } };
      }
      return manifest;
    },
  },
};
