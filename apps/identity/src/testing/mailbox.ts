import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '@tessera/local-stack';

/** A mail as its reader sees it. */
export interface ReceivedMail {
  readonly kind: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Where the button leads; throws where there is none. */
  readonly link: URL;
}

/** The folder that identity writes its mails into, read like a mailbox. */
export interface Mailbox {
  /** The setting `MAIL_DIRECTORY`. */
  readonly directory: string;
  /** Every mail to an address so far, the oldest first. */
  to(address: string): Promise<ReceivedMail[]>;
  /** The newest mail of a kind to an address, once there are so many of it. */
  next(kind: string, address: string, count?: number): Promise<ReceivedMail>;
  remove(): Promise<void>;
}

const read = async (file: string, kind: string): Promise<ReceivedMail> => {
  const content = await readFile(file, 'utf8');
  const [, to = '', subject = '', text = ''] =
    /^To: (.*)\nSubject: (.*)\n\n([\s\S]*)$/.exec(content) ?? [];
  return {
    kind,
    to,
    subject,
    text,
    get link() {
      return new URL(/https?:\S+/.exec(text)?.[0] ?? '');
    },
  };
};

export const openMailbox = async (): Promise<Mailbox> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-mail-'));
  /** By file: mails do not change once they have their names. */
  const known = new Map<string, Promise<ReceivedMail>>();
  const mailOf = (name: string): Promise<ReceivedMail> => {
    const found = known.get(name) ?? read(path.join(directory, name), name.split(' ')[1] ?? '');
    known.set(name, found);
    return found;
  };
  const all = async (): Promise<ReceivedMail[]> => {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.txt')).sort();
    return Promise.all(names.map(mailOf));
  };
  const to = async (address: string) => (await all()).filter((mail) => mail.to === address);
  return {
    directory,
    to,
    async next(kind, address, count = 1) {
      let found: ReceivedMail[] = [];
      await until(async () => {
        found = (await to(address)).filter((mail) => mail.kind === kind);
        return found.length >= count;
      });
      return found.at(-1) as ReceivedMail;
    },
    remove: () => rm(directory, { recursive: true }),
  };
};
