import {
  bool,
  described,
  list,
  type OutOf,
  oneOf,
  optional,
  rawText,
  text,
  withDefault,
} from '@tessera/fields';

/** The variables of the connection to Kafka. */
export const kafkaVariables = {
  KAFKA_BROKERS: described(
    withDefault(list(text(300), { max: 50 }), []),
    'Kafka brokers as host:port. Without them, identity keeps its events in the outbox, and CRM publishes none and is not notified of changes in identity.',
  ),
  KAFKA_TLS: described(
    withDefault(bool(), false),
    'Whether connections to Kafka use TLS. The certificates of the brokers are verified.',
  ),
  KAFKA_CA: described(
    optional(rawText(200_000)),
    'Certificates (PEM) of the authorities that sign those of the brokers, usually as KAFKA_CA_FILE. Defaults to the authorities that Node trusts.',
  ),
  KAFKA_USERNAME: described(
    optional(text(255)),
    'User name at Kafka (SASL). Requires KAFKA_TLS and KAFKA_PASSWORD.',
  ),
  KAFKA_PASSWORD: described(optional(rawText(1000)), 'The password of KAFKA_USERNAME.'),
  KAFKA_SASL_MECHANISM: described(
    withDefault(oneOf('plain', 'scram-sha-256', 'scram-sha-512'), 'scram-sha-512'),
    'How KAFKA_USERNAME authenticates.',
  ),
} as const;

type KafkaVariables = OutOf<typeof kafkaVariables>;

/** What of these variables contradicts the others; undefined if nothing does. */
const contradiction = (read: KafkaVariables): string | undefined => {
  const { KAFKA_TLS, KAFKA_CA, KAFKA_USERNAME, KAFKA_PASSWORD } = read;
  if (KAFKA_CA !== undefined && !KAFKA_TLS) return 'KAFKA_CA requires KAFKA_TLS';
  if (KAFKA_USERNAME !== undefined && !KAFKA_TLS) return 'KAFKA_USERNAME requires KAFKA_TLS';
  if (KAFKA_USERNAME !== undefined && KAFKA_PASSWORD === undefined)
    return 'KAFKA_USERNAME requires KAFKA_PASSWORD';
  if (KAFKA_PASSWORD !== undefined && KAFKA_USERNAME === undefined)
    return 'KAFKA_PASSWORD requires KAFKA_USERNAME';
  return undefined;
};

/** The settings of the connection to Kafka; throws an error that names variables that contradict each other. */
export const kafkaSettings = (read: KafkaVariables) => {
  const problem = contradiction(read);
  if (problem !== undefined) throw new Error(`Invalid configuration:\n- ${problem}`);
  const { KAFKA_CA: ca, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = read;
  const sasl =
    username !== undefined && password !== undefined
      ? { mechanism: read.KAFKA_SASL_MECHANISM, username, password }
      : undefined;
  return {
    kafkaBrokers: read.KAFKA_BROKERS,
    /** Undefined: connections without TLS. */
    kafkaSecurity: read.KAFKA_TLS ? { ca, sasl } : undefined,
  };
};
