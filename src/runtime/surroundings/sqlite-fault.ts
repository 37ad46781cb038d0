/** Why the file of the embedded store could not be opened. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Finding, type Reason, thisUser } from './fault.ts'

/** @param path absolute @param setting what to edit */
export function sqliteFinding(path: string, setting: string, reason: Reason): Finding {
  const about = { path, folder: dirname(path), setting, ...reason }
  return (FINDINGS[about.code] ?? other)(about)
}

interface About extends Reason {
  readonly path: string
  readonly folder: string
  readonly setting: string
}

const FINDINGS: Readonly<Record<string, (about: About) => Finding>> = {
  EACCES: forbidden,
  EPERM: forbidden,
  SQLITE_PERM: forbidden,
  SQLITE_READONLY: forbidden,
  SQLITE_CANTOPEN: forbidden,
  EROFS: ({ folder, setting }) => ({
    cause: `the folder ${folder} is on a file system that is mounted read-only (EROFS)`,
    advice: `Mount it for writing, or choose another path in ${setting}`,
  }),
  ENOENT: noFolder,
  ENOTDIR: notAFolder,
  EEXIST: notAFolder,
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  SQLITE_FULL: diskFull,
  SQLITE_NOTADB: notAStore,
  NOT_A_STORE: notAStore,
  SQLITE_CORRUPT: damaged,
  DAMAGED: damaged,
  NEWER_SCHEMA: ({ message, setting }) => ({
    cause: message,
    advice: `Start the newer Seatgate, or restore a backup that is older than its first start, or choose another path in ${setting}`,
  }),
  SQLITE_BUSY: ({ path }) => ({
    cause: `another program has locked the store ${path} (SQLITE_BUSY)`,
    advice: `Close that program, which "fuser -v ${path}" shows, then start again`,
  }),
  TIMEOUT: ({ path }) => ({
    cause: `SQLite has not opened the store ${path} yet`,
    advice:
      'Wait while it recovers and checks the file, and raise startup_timeout for a large file; otherwise look for a slow disk',
  }),
  GATEWAY: ({ message, setting }) => ({
    cause: message,
    advice: `Stop that gateway, or choose another path in ${setting}; gateways share a PostgreSQL store`,
  }),
  IN_USE: ({ message, setting }) => ({
    cause: message,
    advice: `"fuser -v" with the path shows that process; another gateway needs another path in ${setting}`,
  }),
}

function forbidden(about: About): Finding {
  const { path, folder, setting, code } = about
  if (!existsSync(folder)) return noFolder(about)
  return {
    cause: `${thisUser()} may not write the store ${path} or its folder (${code})`,
    advice: `Give this user the right to read and write the folder ${folder} and the files in it, or choose another path in ${setting}`,
  }
}

function noFolder({ folder, setting, code }: About): Finding {
  return {
    cause: `the folder ${folder} does not exist and cannot be created (${code})`,
    advice: `Create it so that ${thisUser()} may read and write it, or correct the path in ${setting}`,
  }
}

function notAFolder({ folder, setting, code }: About): Finding {
  return {
    cause: `${folder}, or a folder above it, is a file (${code})`,
    advice: `Correct the path in ${setting}, or move that file away`,
  }
}

function diskFull({ path, folder, setting, code }: About): Finding {
  return {
    cause: `the disk of the store ${path} is full (${code})`,
    advice: `Free some space for the folder ${folder}, 1 MiB at least, or choose another path in ${setting}`,
  }
}

function notAStore({ path, setting, message }: About): Finding {
  return {
    cause: `the file ${path} is not a Seatgate store, and was left as it is (${message})`,
    advice: `Choose another path in ${setting}, or move the file away; a missing file is created`,
  }
}

function damaged({ message }: About): Finding {
  return {
    cause: message,
    advice: 'Restore the file from a backup, after the removal of its -wal and -shm files',
  }
}

function other({ message, setting }: About): Finding {
  return { cause: message, advice: `Correct this, or choose another path in ${setting}` }
}
