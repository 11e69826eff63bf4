// What a broker with TLS and SASL needs: a certificate, and settings of Kafka.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openssl = (...args) => promisify(execFile)('openssl', args);

/**
 * Creates a certificate authority and a certificate of 127.0.0.1 in a directory.
 *
 * @returns {Promise<{ ca: string, keystore: string }>} The authority's certificate, and the path of the file with the
 *   key and the certificate of the broker (all PEM).
 */
export async function createCertificate(directory) {
  const path = (name) => join(directory, name);
  const create = (name, subject, ...more) => {
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1'.split(' ');
    const files = ['-keyout', path(`${name}.key`), '-out', path(`${name}.crt`)];
    return openssl('req', '-x509', '-subj', `/CN=${subject}`, ...key, ...files, ...more);
  };
  await create('ca', 'Test authority');
  const signed = ['-CA', path('ca.crt'), '-CAkey', path('ca.key')];
  const extensions = ['subjectAltName=IP:127.0.0.1', 'basicConstraints=critical,CA:FALSE'];
  await create('broker', 'broker', ...signed, ...extensions.flatMap((one) => ['-addext', one]));
  const [ca, key, certificate] = await Promise.all(
    ['ca.crt', 'broker.key', 'broker.crt'].map((name) => readFile(path(name), 'utf8')),
  );
  await writeFile(path('broker.pem'), `${key}${certificate}`, { mode: 0o600 });
  return { ca, keystore: path('broker.pem') };
}

/** Settings of a listener that requires TLS and one of these users, by password or SCRAM-SHA-512. */
export const secureSettings = ({ keystore, users }) => {
  const passwords = Object.entries(users).map(([name, password]) => `user_${name}="${password}"`);
  const modules = 'org.apache.kafka.common.security';
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keystore,
    'listener.name.secure.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
    'listener.name.secure.plain.sasl.jaas.config': `${modules}.plain.PlainLoginModule required ${passwords.join(' ')};`,
    'listener.name.secure.scram-sha-512.sasl.jaas.config': `${modules}.scram.ScramLoginModule required;`,
  };
};

/** Arguments of Kafka's StorageTool that add the users. */
export const scramUsers = (users) =>
  Object.entries(users).flatMap(([name, password]) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${password}]`,
  ]);
