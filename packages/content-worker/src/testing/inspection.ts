// A confined program that reports its environment and whether it can connect.
import { writeSync } from 'node:fs';
import { connect } from 'node:net';
import { confine } from '../child/confinement.ts';

confine({ seconds: 30, memoryBytes: 2 ** 40 });
const attempt = (): string => {
  try {
    connect(9, '127.0.0.1').destroy();
    return 'connected';
  } catch (error) {
    return String(error);
  }
};
const fetched = await fetch('http://127.0.0.1:4099').catch((error) => String(error.cause));
writeSync(3, JSON.stringify({ environment: process.env, connection: attempt(), fetched }));
process.exit();
