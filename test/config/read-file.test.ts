import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { MAX_FILE, readSource } from '../../src/config/read-file.ts'
import { BASE, Folder } from './support.ts'

t.test('an unreadable file is an error at 1:1', async (t) => {
  const folder = new Folder(t, { 'file.yaml': '', 'folder.yaml/x': '' })
  symlinkSync('loop.yaml', folder.file('loop.yaml'))
  symlinkSync('nowhere.yaml', folder.file('dangling.yaml'))
  execFileSync('mkfifo', [folder.file('fifo.yaml')])
  for (const name of [
    'none.yaml',
    'file.yaml/x.yaml',
    'dangling.yaml',
    'folder.yaml',
    'fifo.yaml',
    'loop.yaml',
  ])
    await folder.faultsAt(t, `${name}:1:1`, {}, name)
  t.match(await readSource('/dev/zero'), { message: 'is not a regular file' })
})

t.test('a FIFO or a device among the route tables', async (t) => {
  const folder = new Folder(t, { 'gateway.config.yaml': `${BASE}routes: [r/*.yaml]\n`, 'r/x': '' })
  execFileSync('mkfifo', [folder.file('r/a.yaml')])
  symlinkSync('/dev/zero', folder.file('r/b.yaml'))
  await folder.faultsAt(t, 'r/a.yaml:1:1 r/b.yaml:1:1')
})

t.test('a file larger than the limit is not read', async (t) => {
  const folder = new Folder(t, { 'gateway.config.yaml': '' })
  truncateSync(folder.file('gateway.config.yaml'), 50 * 1024 * 1024)
  await folder.faultsAt(t, '1:1')
})

t.test('a file of exactly the limit is read', async (t) => {
  const folder = new Folder(t)
  writeFileSync(folder.file('a'), Buffer.alloc(MAX_FILE, 0x20))
  writeFileSync(folder.file('b'), Buffer.alloc(MAX_FILE + 1, 0x20))
  const source = await readSource(folder.file('a'))
  t.equal('text' in source && source.text.length, MAX_FILE)
  t.match(await readSource(folder.file('b')), { line: 1, column: 1, message: 'is larger than 16 MiB' })
})

t.test('content that differs from the size in the file system', async (t) => {
  // Files of /proc have size 0 and content, like a file that another process is writing.
  t.match(await readSource('/proc/self/status'), { message: 'changed while it was read' })
})
