// The digest of a skill's whole folder, by the rules of skilldelta/skill_folder.py: its text, scripts, references and other
// files. A test holds both to the same digests.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { bodyOf, digest, frontOf, readWhole } from './skill-file.mjs'

const SKILL_FILE = 'SKILL.md'
const FOLDERS = new Set(['scripts', 'references', 'assets'])
const PASSED_OVER = new Set(['__pycache__', 'node_modules', 'evals'])
const MOST_FILES = 300
const MOST_BYTES = 8 << 20
const DEEPEST = 6
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** The digest of the folder of a SKILL.md; undefined where it has no other files, or cannot be read. */
export async function folderVersionOf(file) {
  if (!file || basename(file) !== SKILL_FILE) return undefined
  try {
    const text = await readWhole(file)
    const body = bodyOf(text)
    const listing = body && await listed(dirname(resolve(file)), text)
    return listing ? digest(`${digest(body)}  ${SKILL_FILE}\n${listing}`) : undefined
  } catch {
    return undefined
  }
}

async function listed(folder, text) {
  const paths = (await pathsIn(folder, text)).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  let left = MOST_BYTES
  const lines = []
  for (const [number, path] of paths.entries()) {
    const content = number < MOST_FILES ? await contentOf(join(folder, path), left) : undefined
    left -= content?.length ?? 0
    lines.push(content ? `${sha256(content)}  ${path}\n` : `${await sizeOf(join(folder, path))} bytes  ${path}\n`)
  }
  return lines.join('')
}

async function pathsIn(folder, text) {
  const isOwn = frontOf(text).some(line => line.startsWith('name:') && unquoted(line.slice(5)) === basename(folder))
  const paths = []
  for (const entry of await entriesOf(folder)) {
    if (entry.isDirectory()) {
      if (FOLDERS.has(entry.name) || (isOwn && isNamed(entry.name, text))) paths.push(...await below(join(folder, entry.name), entry.name, 1))
    } else if (isOwn && entry.name !== SKILL_FILE && entry.isFile()) paths.push(entry.name)
  }
  return paths
}

async function below(folder, prefix, depth) {
  const entries = await entriesOf(folder)
  if (entries.some(entry => entry.name === SKILL_FILE)) return [] // another skill
  const paths = []
  for (const entry of entries) {
    const path = `${prefix}/${entry.name}`
    if (entry.isDirectory()) {
      if (depth < DEEPEST) paths.push(...await below(join(folder, entry.name), path, depth + 1))
    } else if (entry.isFile()) paths.push(path)
  }
  return paths
}

async function entriesOf(folder) {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter(({ name }) => name[0] !== '.' && counts(name))
  } catch {
    return []
  }
}

const counts = name => !PASSED_OVER.has(name) && !/\.(pyc|bank)$/.test(name) && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name)

// Whether the text names a folder: its name as a word of its own, before a slash.
const isNamed = (name, text) =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/`, 'u').test(text)

const unquoted = text => text.trim().replace(/^['"]+|['"]+$/g, '')

async function contentOf(path, most) {
  let handle
  try {
    handle = await open(path, FLAGS)
    const status = await handle.stat()
    if (!status.isFile() || status.size > most) return undefined
    return withoutReturns(await handle.readFile())
  } catch {
    return undefined
  } finally {
    await handle?.close()
  }
}

const withoutReturns = content =>
  content.includes('\r\n') ? Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') : content

const sha256 = content => createHash('sha256').update(content).digest('hex')

async function sizeOf(path) {
  try {
    return (await lstat(path)).size
  } catch {
    return 0
  }
}
