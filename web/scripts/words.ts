/** Vite plugin: turns the texts in the code into messages, and the catalogues under src/locales into modules. */
import { type NodePath, type PluginObj, transformAsync, types } from '@babel/core';
import linguiMacro from '@lingui/babel-plugin-lingui-macro';
import { getCatalogs } from '@lingui/cli/api';
import { getConfig } from '@lingui/conf';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import { generateMessageId } from '@lingui/message-utils/generateMessageId';
import type { Plugin } from 'vite';

const CATALOGUES = 'virtual:catalogues';
const CATALOGUE = 'virtual:catalogue/';
const config = getConfig();
const locales: string[] = config.locales;

export function words(): Plugin {
  return {
    name: 'words',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^virtual:catalogue/ },
      handler: (id) => `\0${id}`,
    },
    load: {
      filter: { id: /^\0virtual:catalogue/ },
      async handler(id) {
        const name = id.slice(1);
        if (name === CATALOGUES) return listCatalogues((message) => this.warn(message));
        const { messages } = await readCatalogue(name.slice(CATALOGUE.length));
        return `export default JSON.parse(${JSON.stringify(JSON.stringify(messages))});`;
      },
    },
    transform: {
      filter: { id: { include: /\.tsx?$/, exclude: /node_modules/ }, code: /@lingui\/\w+\/macro/ },
      async handler(code, filename) {
        const result = await transformAsync(code, {
          filename,
          babelrc: false,
          configFile: false,
          sourceMaps: true,
          parserOpts: { plugins: filename.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'] },
          plugins: [
            [linguiMacro, { descriptorFields: 'message', linguiConfig: config }],
            compileMessages,
          ],
        });
        return { code: result?.code ?? code, map: result?.map };
      },
    },
  };
}

/** The languages whose catalogue has every message; people are offered no other. */
async function listCatalogues(warn: (message: string) => void): Promise<string> {
  const entries: string[] = [];
  for (const locale of locales) {
    const { missing } = await readCatalogue(locale);
    if (missing === 0) entries.push(`${locale}: () => import('${CATALOGUE}${locale}')`);
    else warn(`The language ${locale} is left out: it lacks ${missing} messages.`);
  }
  return `export const catalogues = { ${entries.join(', ')} };`;
}

async function readCatalogue(locale: string) {
  const messages: Record<string, unknown> = {};
  let missing = 0;
  for (const catalogue of await getCatalogs(config)) {
    for (const entry of Object.values((await catalogue.read(locale)) ?? {})) {
      if (entry.obsolete) continue;
      if (!entry.translation) missing += 1;
      else messages[idOf(entry.message ?? '', entry.context)] = compile(entry.translation);
    }
  }
  return { messages, missing: Object.keys(messages).length === 0 ? 1 : missing };
}

/** Most messages are one plain text, which names itself and so costs no second name in the bundle. */
function idOf(message: string, context = ''): string {
  return context || isShaped(message) ? String(generateMessageId(message, context)) : message;
}

const isShaped = (message: string) => /[{}<\\]|''/.test(message);

function compile(message: string): unknown {
  const parts = compileMessageOrThrow(message) as unknown[];
  const [first] = parts;
  return parts.length === 1 && typeof first === 'string' ? first : parts;
}

/** Runs after the macro, so that the browser needs no parser of messages. */
function compileMessages(): PluginObj {
  return {
    visitor: {
      ObjectExpression(path: NodePath<types.ObjectExpression>) {
        const id = propertyOf(path.node, 'id');
        const text = propertyOf(path.node, 'message');
        if (!id || !types.isStringLiteral(text?.value)) return;
        const message = text.value.value;
        const context = propertyOf(path.node, 'context')?.value;
        const name = idOf(message, types.isStringLiteral(context) ? context.value : '');
        if (name === message && path.parentPath.isCallExpression()) {
          path.replaceWith(types.stringLiteral(message));
        } else {
          id.value = types.stringLiteral(name);
          text.value = types.valueToNode(compile(message) as string);
        }
      },
    },
  };
}

function propertyOf(node: types.ObjectExpression, name: string) {
  return node.properties.find(
    (property): property is types.ObjectProperty =>
      types.isObjectProperty(property) && types.isIdentifier(property.key, { name }),
  );
}
