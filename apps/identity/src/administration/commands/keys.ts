import { reseal } from '@tessera/vault';
import type { Command } from 'commander';
import { noteCommand } from '../../activity/activity.ts';
import { created } from '../../activity/changes.ts';
import { SigningKeys } from '../../tokens/signing-keys.ts';
import { retireKey } from '../retire-key.ts';
import { sealPins } from '../seal-pins.ts';
import { sealedColumns } from '../sealed-columns.ts';
import type { Session } from '../session.ts';
import { examples, type Run } from './run.ts';

const rotateKeys = async ({ database, vault }: Session): Promise<object> => {
  const keys = new SigningKeys(database, vault);
  // A database that no service has used yet gets its first key, which signs at once.
  await keys.start();
  const { kid, signsFrom } = await keys.rotate((tx, next) =>
    noteCommand(tx, `rotate-keys ${next.kid}`, 'signing_key_rotated', {
      changes: created({ signs_from: next.signsFrom }),
    }),
  );
  return { kid, signs_from: signsFrom.toISOString() };
};

const listKeys = async ({ database }: Session): Promise<object[]> => {
  const keys = await database.signingKey.findMany({ orderBy: { signsFrom: 'desc' } });
  return keys.map(({ kid, signsFrom, removedAt, retiredAt }) => ({
    kid,
    signs_from: signsFrom.toISOString(),
    published_until: removedAt?.toISOString() ?? null,
    retired_at: retiredAt?.toISOString() ?? null,
  }));
};

/** Commands for keys: signing keys and key-encryption keys. */
export const addKeyCommands = (program: Command, run: Run): void => {
  program
    .command('rotate-keys')
    .description('publish a new key that signs tokens ten minutes from now; old tokens stay valid')
    .action(() => run(rotateKeys));

  program
    .command('retire-key <kid>')
    .description(
      'take a key that was stolen out of use at once, and end every token that it signed',
    )
    .addHelpText(
      'after',
      [
        '\nIts successor signs from now on: a new key, where there is no other. People sign in again, and API',
        'keys that it signed have to be created anew. It takes ten seconds, until no replica uses the key.',
        examples('retire-key NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'),
      ].join('\n'),
    )
    .action((kid: string) => run((session) => retireKey(session, kid)));

  program
    .command('list-keys')
    .description('show the keys that sign tokens')
    .action(() => run(listKeys));

  program
    .command('reseal')
    .description(
      'seal with the first of KEY_ENCRYPTION_KEYS what another one has sealed, so that the other can go, and PINs that no key has sealed',
    )
    .addHelpText(
      'after',
      [
        '\nFirst add the new key at the end of the list and restart every replica, then put it in front and',
        'restart them again: a replica without the key cannot open what others seal with it. When a second',
        'run reports 0 everywhere, remove the old key.',
        examples('reseal'),
      ].join('\n'),
    )
    .action(() =>
      run(async ({ database, pool, vault }) => {
        const sealed = await sealPins(database, vault);
        const { pins = 0, ...others } = await reseal(pool, vault, sealedColumns);
        await noteCommand(database, 'reseal', 'secrets_resealed');
        return { ...others, pins: pins + sealed };
      }),
    );
};
