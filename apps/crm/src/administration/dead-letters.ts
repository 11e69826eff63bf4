import { crmEventResourceNames, crmTopicOf, eventTypes } from '@tessera/contracts';
import { type DeadLetter, DeadLetters } from '@tessera/event-bus';
import type { Command } from 'commander';
import type { Config } from '../config.ts';

/** Every topic that can have dead letters: those of identity's events and of CRM's. */
const topics: readonly string[] = [...eventTypes, ...crmEventResourceNames.map(crmTopicOf)];

const open = ({
  kafkaBrokers,
  kafkaSecurity,
}: Pick<Config, 'kafkaBrokers' | 'kafkaSecurity'>): DeadLetters => {
  if (kafkaBrokers.length === 0) throw new Error('KAFKA_BROKERS is not set.');
  return new DeadLetters({ brokers: kafkaBrokers, security: kafkaSecurity, clientId: 'crm-admin' });
};

const summaryOf = ({ id, topic, reason, copies, writtenAt }: DeadLetter) => ({
  id,
  topic,
  reason,
  copies,
  written_at: writtenAt.toISOString(),
});

const topicOf = (id: string): string => {
  const topic = topics.find((name) => id.startsWith(`${name}-`));
  if (topic === undefined) throw new Error(`${id} is not the id of a dead letter.`);
  return topic;
};

const find = async (letters: DeadLetters, ids: readonly string[]): Promise<DeadLetter[]> => {
  const found: DeadLetter[] = [];
  for (const topic of new Set(ids.map(topicOf))) {
    found.push(...(await letters.list(topic)).filter(({ id }) => ids.includes(id)));
  }
  const unknown = ids.filter((id) => found.every((letter) => letter.id !== id));
  if (unknown.length > 0) throw new Error(`The broker has no dead letter ${unknown.join(', ')}.`);
  return found;
};

/** Runs a command's work with the configuration, and prints the result. */
type Run = (work: (config: Config) => Promise<object>) => Promise<void>;

/** Adds `dead-letters list`, `show` and `replay`. */
export const addDeadLetterCommands = (program: Command, run: Run): void => {
  const commands = program
    .command('dead-letters')
    .description('inspect records of Kafka that a consumer could not parse, and publish them again')
    .addHelpText(
      'after',
      [
        '\nThe broker deletes dead letters after the retention time of their topics. A record that is published',
        'again goes to every consumer of its topic; consumers must expect duplicates in any case.',
      ].join('\n'),
    );
  commands
    .command('list [topic]')
    .description('list the dead letters of a topic, or of all topics, with the reasons')
    .action((topic?: string) =>
      run(async (config) => {
        const letters = open(config);
        const found: object[] = [];
        for (const name of topic === undefined ? topics : [topic]) {
          found.push(...(await letters.list(name)).map(summaryOf));
        }
        return found;
      }),
    );
  commands
    .command('show <id>')
    .description('show a dead letter with the key, the headers and the value of the record')
    .action((id: string) =>
      run(async (config) => {
        const [letter] = await find(open(config), [id]);
        return {
          ...summaryOf(letter as DeadLetter),
          key: letter?.key,
          headers: letter?.headers,
          value: letter?.value?.toString('utf8') ?? null,
        };
      }),
    );
  commands
    .command('replay <ids...>')
    .description(
      'publish these records again to their topics, for example after a consumer was repaired',
    )
    .action((ids: string[]) =>
      run(async (config) => {
        const letters = open(config);
        const found = await find(letters, ids);
        await letters.replay(found);
        return { replayed: found.length };
      }),
    );
};
