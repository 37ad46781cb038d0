/** A configuration as git has it at a revision, written to a temporary folder. */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix, relative } from 'node:path'
import { promisify } from 'node:util'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { CommandFailed } from './command.ts'

const run = promisify(execFile)

/** Bytes of one file, and of the list of all files. */
const MAX_OUTPUT = 256 * 1024 * 1024

export interface CheckedOut {
  /** Absolute path of the configuration file. */
  readonly file: string
  /** The path as messages have it: `git:main:routes/a.yaml`. */
  display(path: string): string
  remove(): Promise<void>
}

/** A file of a revision. */
interface Entry {
  readonly path: string
  readonly object: string
  readonly isLink: boolean
}

/**
 * Only the configuration file and the files that its `routes` and `shadow.routes` name are written.
 *
 * @param revision as git reads it: a branch, a tag, a commit
 * @param path of the configuration file, relative to the working directory
 * @throws CommandFailed where git, the revision or the file is missing
 */
export async function checkOut(revision: string, path: string): Promise<CheckedOut> {
  const commit = await commitOf(revision)
  const prefix = (await git('rev-parse', '--show-prefix')).trim()
  const main = posix.normalize(posix.join(prefix, path))
  const entries = await entriesOf(commit)
  const entry = entries.get(main)
  if (entry === undefined)
    throw new CommandFailed(`git:${revision} has no file ${main}: name its path as git:${revision}:PATH`)
  const folder = await mkdtemp(join(tmpdir(), 'seatgate-revision-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const patterns = routePatterns(await content(entry))
    const wanted = [...entries.values()].filter(
      (each) =>
        each === entry || patterns.some((pattern) => matches(each.path, posix.dirname(main), pattern)),
    )
    const writer = new Writer(folder, entries)
    for (const each of wanted) await writer.write(each)
    const display = (file: string) => `git:${revision}:${relative(folder, file)}`
    return { file: join(folder, main), display, remove }
  } catch (cause) {
    await remove()
    throw cause
  }
}

/** git ended with another exit code than 0. */
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

/** Whether git has a commit of this name here; false also where git or a repository is missing. */
export async function isRevision(text: string): Promise<boolean> {
  return commitOf(text).then(
    () => true,
    () => false,
  )
}

async function commitOf(revision: string): Promise<string> {
  try {
    const asked = ['--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
    return (await git('rev-parse', ...asked)).trim()
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

/** Without those that have faults: loading the configuration reports them. */
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

/** Writes files of a revision, each once. */
class Writer {
  readonly #folder: string
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #written = new Set<Entry>()

  constructor(folder: string, entries: ReadonlyMap<string, Entry>) {
    this.#folder = folder
    this.#entries = entries
  }

  /** A link is written with the file that it leads to: a table that two names lead to counts once. */
  async write(entry: Entry): Promise<void> {
    if (this.#written.has(entry)) return
    this.#written.add(entry)
    const path = join(this.#folder, entry.path)
    await mkdir(dirname(path), { recursive: true })
    const text = await content(entry)
    if (!entry.isLink) return writeFile(path, text)
    const target = this.#entries.get(posix.join(posix.dirname(entry.path), text))
    if (target === undefined || text.startsWith('/'))
      throw new CommandFailed(`${entry.path} is a symbolic link, and leads to no file of the revision`)
    await symlink(text, path)
    await this.write(target)
  }
}
