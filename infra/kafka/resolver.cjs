// Replaces the embedded broker by Apache Kafka in tests.
const { join } = require('node:path');

const embedded = join(__dirname, '../../packages/local-stack/src/broker.ts');
const kafka = join(__dirname, 'kafka.mjs');

module.exports = (request, options) => {
  const found = options.defaultResolver(request, options);
  return found === embedded ? kafka : found;
};
