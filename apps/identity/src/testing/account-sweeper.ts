import { createLogger } from '@tessera/http-kit';
import { readConfig } from '../config.ts';
import { createContext } from '../context.ts';
import { startAccountDeletions } from '../features/account-deletion/account-deletion.sweep.ts';

/** Deletes the accounts whose time has come; run as a process of its own, to be killed. */
const { accountDeletionRepository: repository } = createContext(readConfig(process.env));
startAccountDeletions({ repository, logger: createLogger('sweeper', 'silent'), everyMs: 20 });
