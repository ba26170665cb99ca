/** The inputs of a playbook as fields of a form, with the names and values its author gave them. */
import type { FormValues } from '@/components/schema-form';
import { type JsonSchema, type ToolField, toolFieldsOf, toolValues } from '@/components/tool-form';

interface Property {
  title?: unknown;
  default?: unknown;
}

const propertiesOf = (schema: JsonSchema) => (schema.properties ?? {}) as Record<string, Property>;

export function inputFields(schema: JsonSchema): ToolField[] {
  const properties = propertiesOf(schema);
  return toolFieldsOf(schema, false).map(({ field, drawn }) => {
    const title = properties[field.name]?.title;
    return { drawn, field: typeof title === 'string' ? { ...field, label: title } : field };
  });
}

export function inputValues(schema: JsonSchema, given: Record<string, unknown> = {}): FormValues {
  const defaults = Object.entries(propertiesOf(schema)).flatMap(([name, property]) =>
    property.default === undefined ? [] : [[name, property.default] as const],
  );
  return toolValues(inputFields(schema), { ...Object.fromEntries(defaults), ...given });
}
