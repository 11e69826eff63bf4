// Downloads Apache Kafka from Maven Central to target/lib.
import { fileURLToPath } from 'node:url';
import { installFromMaven, isInstalledIn } from '../maven.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export const jars = at('target/lib/*');
/** A formatted data directory, used as a template. */
export const formatted = at('target/formatted');
/** The JVM's class data archive of a start. */
export const classes = at('target/classes.jsa');
export const isInstalled = () => isInstalledIn(at('.'));

/** See `installFromMaven`. */
export const install = () => installFromMaven('Kafka', at('.'));
