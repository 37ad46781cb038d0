/** The route tables for a command: from a configuration file, its folder, or a git revision. */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix, relative } from 'node:path'
import { promisify } from 'node:util'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { type Tables, tablesOf } from '../access/tables.ts'
import { CONFIG } from './arguments.ts'
import { CommandFailed, type Terminal } from './command.ts'
import { loadDecidingTables, versionIn } from './deciding-tables.ts'
import { type Loaded, loadWithTables } from './load-tables.ts'

const SIDE = /^(?<shadow>shadow:)?(?:git:(?<revision>[^:]+)(?::(?<path>.+))?|(?<own>.*))$/s

/**
 * Reads tables without variables of the environment, as they may be of another revision or another
 * installation.
 *
 * @param text a configuration file, its folder, `tables:VERSION` of its store, or `git:REV`, optionally with
 *   `:PATH`; `shadow:` before it selects the candidate tables
 * @returns the tables and the configuration file; for a revision, the file is that of the working directory
 * @throws ConfigError with the faults of the configuration
 */
export async function readTables(
  text: string,
  terminal: Terminal,
): Promise<{ readonly tables: Tables; readonly file: string }> {
  const stored = versionIn(text)
  if (stored !== null) {
    const file = CONFIG.default
    const { version } = stored
    const { config, table } = await loadDecidingTables(file, terminal, { env: null, version })
    return { tables: tablesOf(config, table), file }
  }
  const { shadow, revision, path = CONFIG.default, own = '' } = SIDE.exec(text)?.groups ?? {}
  const which = shadow === undefined ? 'routes' : 'shadow'
  if (revision === undefined) {
    const file = await fileOf(own, shadow)
    return { tables: compiled(await loadDecidingTables(file, terminal, { env: null }), which, file), file }
  }
  return atRevision(revision, path, async (file, display) => ({
    tables: compiled(await ofRevision(file, display), which, display(file)),
    file: CONFIG.default,
  }))
}

function compiled({ config, table, shadow }: Loaded, which: 'routes' | 'shadow', shown: string): Tables {
  if (which === 'routes') return tablesOf(config, table)
  if (shadow === null) throw new CommandFailed(`${shown} has no candidate tables: shadow`)
  return tablesOf(config, shadow)
}

/** A revision has no store of its own. @throws CommandFailed if its tables are in one */
async function ofRevision(file: string, display: (path: string) => string): Promise<Loaded> {
  const loaded = await loadWithTables(file, null, display)
  if (loaded.config.tables.from === 'store')
    throw new CommandFailed(`${display(file)} has its route tables in the store: name them as tables:VERSION`)
  return loaded
}

/** The file that the user names. @param prefix `shadow:`, if it precedes the path */
async function fileOf(path: string, prefix = ''): Promise<string> {
  const stats = await stat(path).catch(() => null)
  if (stats === null && (await isRevision(path.split(':')[0] ?? '')))
    throw new CommandFailed(
      `there is no file ${path}, but git has a revision of this name: write ${prefix}git:${path}`,
    )
  return stats?.isDirectory() === true ? join(path, CONFIG.default) : path
}

const run = promisify(execFile)

/** The most bytes of one file, and of the list of all files. */
const MAX_OUTPUT = 256 * 1024 * 1024

/** A file of a revision. */
interface Entry {
  readonly path: string
  readonly object: string
  readonly isLink: boolean
}

/**
 * Runs the work on the configuration of a git revision, in a temporary folder. Only the configuration file
 * and the files that its `routes` and `shadow.routes` name are written.
 *
 * @param revision a name that git accepts: a branch, a tag, a commit
 * @param path of the configuration file, relative to the working directory
 * @param work gets the absolute path of the file, and a function for paths in messages, such as
 *   `git:main:routes/a.yaml`
 * @throws CommandFailed if git, the revision or the file is missing
 */
async function atRevision<R>(
  revision: string,
  path: string,
  work: (file: string, display: (path: string) => string) => Promise<R>,
): Promise<R> {
  const commit = await commitOf(revision)
  const prefix = (await git('rev-parse', '--show-prefix')).trim()
  const main = posix.normalize(posix.join(prefix, path))
  const entries = await entriesOf(commit)
  const entry = entries.get(main)
  if (entry === undefined)
    throw new CommandFailed(`git:${revision} has no file ${main}: name its path as git:${revision}:PATH`)
  const folder = await mkdtemp(join(tmpdir(), 'seatgate-revision-'))
  try {
    const patterns = routePatterns(await content(entry))
    const wanted = [...entries.values()].filter(
      (each) =>
        each === entry || patterns.some((pattern) => matches(each.path, posix.dirname(main), pattern)),
    )
    const written = new Set<Entry>()
    for (const each of wanted) await write(each, { folder, entries, written })
    return await work(join(folder, main), (file) => `git:${revision}:${relative(folder, file)}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** git has ended with an exit code other than 0. */
class GitFailed extends CommandFailed {}

async function git(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', [...args], { maxBuffer: MAX_OUTPUT, encoding: 'utf8' })
    return stdout
  } catch (cause) {
    const { code, stderr = '' } = cause as NodeJS.ErrnoException & { readonly stderr?: string }
    if (code === 'ENOENT') throw new CommandFailed('git is not installed, which git:REV needs')
    throw new GitFailed(`git ${args[0]} failed: ${stderr.trim()}`)
  }
}

/** Whether git has a commit of this name here; false if git or a repository is missing. */
async function isRevision(text: string): Promise<boolean> {
  return commitOf(text).then(
    () => true,
    () => false,
  )
}

async function commitOf(revision: string): Promise<string> {
  try {
    const options = ['--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
    return (await git('rev-parse', ...options)).trim()
  } catch (cause) {
    if (!(cause instanceof GitFailed)) throw cause
    throw new CommandFailed(
      `git has no revision "${revision}" here: name a branch, tag or commit, and fetch it if need be`,
    )
  }
}

async function entriesOf(commit: string): Promise<Map<string, Entry>> {
  const listed = await git('ls-tree', '-r', '-z', '--full-tree', commit)
  const entries = new Map<string, Entry>()
  for (const line of listed.split('\0')) {
    const [, mode, object = '', path = ''] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
    if (mode !== undefined) entries.set(path, { path, object, isLink: mode === '120000' })
  }
  return entries
}

function content({ object }: Entry): Promise<string> {
  return git('cat-file', 'blob', object)
}

/** The patterns of route tables. Faulty ones are left out: loading the configuration reports them. */
function routePatterns(text: string): string[] {
  const { contents } = parseDocument(text)
  if (!isMap(contents)) return []
  const lists = [['routes'], ['shadow', 'routes']].map((path) => contents.getIn(path))
  return lists.flatMap((list) =>
    isSeq(list)
      ? list.items.flatMap((each) => (isScalar(each) && typeof each.value === 'string' ? [each.value] : []))
      : [],
  )
}

function matches(path: string, folder: string, pattern: string): boolean {
  const below = posix.relative(folder, path)
  const written = posix.normalize(pattern)
  return below === written || posix.matchesGlob(below, written)
}

interface Writing {
  readonly folder: string
  readonly entries: ReadonlyMap<string, Entry>
  readonly written: Set<Entry>
}

/** Writes a file of a revision once, a link with its target: a table under two names counts once. */
async function write(entry: Entry, to: Writing): Promise<void> {
  if (to.written.has(entry)) return
  to.written.add(entry)
  const path = join(to.folder, entry.path)
  await mkdir(dirname(path), { recursive: true })
  const text = await content(entry)
  if (!entry.isLink) return writeFile(path, text)
  const target = to.entries.get(posix.join(posix.dirname(entry.path), text))
  if (target === undefined || text.startsWith('/'))
    throw new CommandFailed(`${entry.path} is a symbolic link, and leads to no file of the revision`)
  await symlink(text, path)
  await write(target, to)
}
