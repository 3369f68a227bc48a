//! Where the members of structs and classes lie, from their text: nested ones, instances of templates, bases, and those with functions.
//!
//! Only what the text says plainly is read. Who uses a layout compares its size with that in PTX.

use super::declarations::{
    argument, bound, declared, enclosed, is_identifier, outside_of_brackets, split_at_colon, statements,
    substituted, template_parameters, without_alignment, without_initialiser,
};
use super::signature::without_comments;
use super::tensor_map::{BYTES, is_tensor_map};
use super::types::CppType;
use crate::array::split;

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub ty: CppType,
    /// Bytes from the start.
    pub offset: usize,
    /// Elements of an array; 1 for others.
    pub count: usize,
    /// Bytes of an element.
    pub size: usize,
    /// Members of a struct, from its start.
    pub members: Vec<Field>,
}

/// Members, size and alignment.
struct Layout {
    fields: Vec<Field>,
    size: usize,
    alignment: usize,
}

/// Structs in structs go no deeper.
const DEEPEST: usize = 16;

/// The members of a struct that is defined in one of the sources, and its size; `None` where it is not found or has members whose place is not
/// known.
pub fn fields(sources: &[&str], name: &str) -> Option<(Vec<Field>, usize)> {
    let source = sources.iter().map(|source| without_comments(source)).collect::<Vec<_>>().join("\n");
    let layout = Source(&source).layout(name, DEEPEST)?;
    Some((layout.fields, layout.size))
}

struct Source<'a>(&'a str);

/// A definition that fits a name.
struct Definition<'a> {
    /// What stands between the name and the brace: bases.
    head: &'a str,
    body: &'a str,
    /// What stands for the parameters of the template.
    arguments: Vec<(String, String)>,
    /// What the head says of alignment.
    alignment: usize,
}

impl Source<'_> {
    fn layout(&self, name: &str, depth: usize) -> Option<Layout> {
        let depth = depth.checked_sub(1)?;
        let definition = self.definition(name)?;
        let mut layout = Layout { fields: Vec::new(), size: 0, alignment: definition.alignment };
        for base in split(definition.head).into_iter().filter(|base| !base.trim().is_empty()) {
            let words = base.split_whitespace();
            let name: Vec<&str> =
                words.filter(|word| !matches!(*word, "public" | "private" | "protected")).collect();
            let base = self.layout(&substituted(&name.join(" "), &definition.arguments), depth)?;
            let start = if base.fields.is_empty() { 0 } else { layout.size.next_multiple_of(base.alignment) };
            layout.size = if base.fields.is_empty() { layout.size } else { start + base.size };
            layout.alignment = layout.alignment.max(base.alignment);
            layout
                .fields
                .extend(base.fields.into_iter().map(|field| Field { offset: start + field.offset, ..field }));
        }
        for statement in statements(definition.body) {
            let statement = substituted(&statement, &definition.arguments);
            self.members(&statement, &mut layout, depth)?;
        }
        layout.size = layout.size.max(1).next_multiple_of(layout.alignment);
        Some(layout)
    }

    /// Adds what a statement declares: several of one type may stand behind each other, `float a, *b`.
    fn members(&self, statement: &str, layout: &mut Layout, depth: usize) -> Option<()> {
        let (statement, asked) = without_alignment(statement)?;
        let statement = statement.trim();
        let first_word = statement.split(|c: char| !is_identifier(c)).next().unwrap_or_default();
        let is_none = matches!(
            first_word,
            "using" | "typedef" | "static" | "friend" | "enum" | "template" | "constexpr"
        );
        if statement.is_empty() || is_none {
            return Some(());
        }
        if matches!(first_word, "virtual" | "union") {
            return None;
        }
        let plain = without_initialiser(statement);
        if outside_of_brackets(plain, '(') {
            // A function; a pointer to one has its star in parentheses.
            return if plain.contains("(*") { None } else { Some(()) };
        }
        if let Some(rest) = plain.strip_prefix("struct").or_else(|| plain.strip_prefix("class"))
            && plain.contains('{')
        {
            // A type of its own is found by its name where a member has it.
            let (_, behind) = rest.rsplit_once('}')?;
            return behind.trim().is_empty().then_some(());
        }
        let parts = split(plain);
        let (name, _) = declared(parts.first()?)?;
        let ty = parts.first()?.split('[').next()?.trim_end().strip_suffix(name)?.trim();
        for (index, part) in parts.iter().enumerate() {
            let (name, count) = declared(part)?;
            // Stars belong to the name alone.
            let own: String = match index {
                0 => ty.into(),
                _ => format!("{} {}", ty.trim_end_matches(['*', ' ']), "*".repeat(part.matches('*').count())),
            };
            let (ty, size, alignment, members) = self.resolved(&own, depth)?;
            let alignment = alignment.max(asked);
            layout.alignment = layout.alignment.max(alignment);
            let offset = layout.size.next_multiple_of(alignment);
            layout.size = offset.checked_add(size.checked_mul(count)?)?;
            layout.fields.push(Field { name: name.into(), ty, offset, count, size, members });
        }
        Some(())
    }

    /// The type that a text means, its size and alignment, and its members.
    fn resolved(&self, text: &str, depth: usize) -> Option<(CppType, usize, usize, Vec<Field>)> {
        let depth = depth.checked_sub(1)?;
        let ty: CppType = text.trim().trim_start_matches("typename ").parse().ok()?;
        match &ty {
            CppType::Element(element) => Some((ty.clone(), element.size(), element.alignment(), Vec::new())),
            CppType::Pointer(_) => Some((ty, 8, 8, Vec::new())),
            CppType::Named(name) => {
                if let Some(alias) = self.alias(name) {
                    return self.resolved(&alias, depth);
                }
                // CUDA's own, whose bytes are nobody's business.
                if is_tensor_map(name) {
                    return Some((ty, BYTES, 64, Vec::new()));
                }
                let layout = self.layout(name, depth)?;
                Some((ty, layout.size, layout.alignment, layout.fields))
            }
        }
    }

    /// What `using NAME = TYPE;` or `typedef TYPE NAME;` says of a name.
    fn alias(&self, name: &str) -> Option<String> {
        let statements = || self.0.split([';', '{', '}']).map(str::trim);
        let used = statements().find_map(|statement| {
            let (known, ty) = statement.strip_prefix("using ")?.split_once('=')?;
            (known.trim() == name).then(|| ty.trim().to_owned())
        });
        used.or_else(|| {
            statements().find_map(|statement| {
                let ty = statement.strip_prefix("typedef ")?.strip_suffix(name)?;
                ty.ends_with([' ', '*']).then(|| ty.trim().to_owned())
            })
        })
    }

    /// The definition of `NAME` or `NAME<ARGUMENTS>`; a specialisation for the very arguments comes first.
    fn definition(&self, name: &str) -> Option<Definition<'_>> {
        let (plain, arguments) = match name.split_once('<') {
            Some((plain, rest)) => (plain, split(rest.trim_end().strip_suffix('>')?)),
            None => (name, Vec::new()),
        };
        let plain = plain.trim().rsplit("::").next()?;
        let arguments: Vec<String> = arguments.into_iter().map(argument).collect();
        let found: Vec<_> = ["struct", "class"]
            .iter()
            .flat_map(|word| self.0.match_indices(word))
            .filter_map(|(at, word)| self.definition_at(at, word, plain, &arguments))
            .collect();
        let exact =
            found.iter().position(|(_, is_special)| *is_special).or((!found.is_empty()).then_some(0))?;
        found.into_iter().nth(exact).map(|(definition, _)| definition)
    }

    /// The definition that stands behind the word `struct` at `at`, if it is of this name; and whether it is a specialisation.
    fn definition_at(
        &self,
        at: usize,
        word: &str,
        name: &str,
        arguments: &[String],
    ) -> Option<(Definition<'_>, bool)> {
        let (before, rest) = (&self.0[..at], &self.0[at + word.len()..]);
        if before.ends_with(is_identifier) || rest.starts_with(is_identifier) {
            return None;
        }
        let open = rest.find('{')?;
        let (head, body) = (&rest[..open], enclosed(&rest[open..])?);
        if head.contains([';', ')', '=']) && !head.contains("align") {
            return None;
        }
        let behind = rest[open + body.len() + 2..].split(';').next()?;
        let (head, alignment) = without_alignment(head)?;
        let (declared, bases) = split_at_colon(&head);
        let (declared, special) = match declared.split_once('<') {
            Some((plain, rest)) => (plain, Some(split(rest.trim_end().strip_suffix('>')?))),
            None => (declared, None),
        };
        let is_it = |text: &str| text.split(|c: char| !is_identifier(c)).any(|word| word == name);
        let is_typedef = before.trim_end().ends_with("typedef") && is_it(behind);
        if !(is_it(declared) || is_typedef) {
            return None;
        }
        let is_special = special.is_some();
        let special = special.map(|list| list.into_iter().map(argument).collect::<Vec<_>>());
        let named = match special {
            Some(special) if special == arguments => Vec::new(),
            Some(_) => return None,
            None => bound(template_parameters(before), arguments),
        };
        let bases = bases.to_owned();
        // The bases live as long as the source, in which they stand.
        let head = match bases.is_empty() {
            true => "",
            false => &rest[rest[..open].find(bases.trim())?..open],
        };
        Some((Definition { head, body, arguments: named, alignment }, is_special))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Name, place and count of each member.
    type Places = Vec<(String, usize, usize)>;

    fn places(source: &str, name: &str) -> Option<(Places, usize)> {
        let (fields, size) = fields(&[source], name)?;
        Some((fields.into_iter().map(|f| (f.name, f.offset, f.count)).collect(), size))
    }

    fn named(list: &[(&str, usize, usize)]) -> Places {
        list.iter().map(|&(name, offset, count)| (name.to_owned(), offset, count)).collect()
    }

    #[test]
    fn members_lie_where_the_compiler_puts_them() {
        let source = "struct Other { int z; }; // struct Params { };
            struct __align__(16) Params { float a, b; /* and */ const double *data; unsigned char flags[3]; float4 v; };
            typedef struct { half h; } Small; struct Grid { float m[2][3]; int *p, q; };";
        let found = named(&[("a", 0, 1), ("b", 4, 1), ("data", 8, 1), ("flags", 16, 3), ("v", 32, 1)]);
        assert_eq!(places(source, "Params").unwrap(), (found, 48));
        assert_eq!(fields(&[source], "Params").unwrap().0[2].ty.to_string(), "f64*");
        assert_eq!(places(source, "ns::Small").unwrap().1, 2);
        assert_eq!(places(source, "Grid").unwrap(), (named(&[("m", 0, 6), ("p", 24, 1), ("q", 32, 1)]), 40));
        assert!(places(source, "Absent").is_none());
    }

    #[test]
    fn functions_classes_and_templates() {
        let source = "struct Rows { int h, w; __device__ int at(int x, int y) const { return x * w + y; } };
            template <typename T, typename L> class View { public: T *ptr; L layout; View() : ptr(nullptr) {}
                __device__ T &operator()(int x, int y) { return ptr[layout.at(x, y)]; } private: int last = 7; };
            template <class T, int N = 4> struct Small { T data[N]; static constexpr int size = N; using value_type = T;
                T get() const { if (N > 2) { return data[0]; } return data[1]; } };
            template <> struct Small<double, 1> { double only; };
            using Index = unsigned short; struct Base { char tag; }; struct Derived : public Base { Index i{3}; Base more[2]; };
            struct Empty {}; struct Policy : Empty { float x; }; struct Wide { alignas(16) float x; float y; };";
        let (members, size) = fields(&[source], "View<float, Rows>").unwrap();
        assert_eq!((size, members[1].offset, members[1].size, members[2].offset), (24, 8, 8, 16));
        let inner: Vec<_> = members[1].members.iter().map(|f| (f.name.as_str(), f.offset)).collect();
        assert_eq!(inner, [("h", 0), ("w", 4)]);
        assert_eq!(members[0].ty.to_string(), "f32*");
        assert_eq!(places(source, "Small<float, (int)3>").unwrap(), (named(&[("data", 0, 3)]), 12));
        assert_eq!(places(source, "Small<half>").unwrap(), (named(&[("data", 0, 4)]), 8));
        assert_eq!(places(source, "Small<double, (int)1>").unwrap(), (named(&[("only", 0, 1)]), 8));
        let derived = named(&[("tag", 0, 1), ("i", 2, 1), ("more", 4, 2)]);
        assert_eq!(places(source, "Derived").unwrap(), (derived, 6));
        assert_eq!(places(source, "Policy").unwrap(), (named(&[("x", 0, 1)]), 4));
        assert_eq!(places(source, "Wide").unwrap(), (named(&[("x", 0, 1), ("y", 4, 1)]), 16));
    }

    #[test]
    fn what_has_no_plain_place_is_not_known() {
        for source in [
            "struct S { int a : 3; };",
            "struct S { virtual int f(); int a; };",
            "struct S { union { int a; float b; }; };",
            "struct S { int (*f)(int); };",
            "struct S { Unknown a; };",
            "struct S { S a; };",
            "struct S { int a[N]; };",
            "struct",
            "struct S",
            "struct S {",
            "struct S { int",
            "struct S { int a[-1]; }",
            "template <typename T struct S { T a; };",
        ] {
            assert!(fields(&[source], "S").is_none(), "{source}");
        }
    }
}
