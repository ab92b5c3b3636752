package screening

import (
	"regexp"
	"slices"
	"strings"

	"coachline/internal/text"
)

// wrongWords are the words of texts from another person who has the number, in all languages
// as splitWords writes them. Everyday life is not among them.
//
//nolint:misspell // other languages
var wrongWords = text.WordSet(`
, i im mistyped misdialed yesterday gestern ive ill am is are was were be been do dont does doesnt did didnt isnt arent wasnt werent aint wont cant not no never nobody noone none one nope yes nor you u ya your youre youve r ur my mine me we us our this that these those it its thats theres the a an here there wrong mistaken incorrect bad mistake error number numbers num numb nr nbr no phone cell mobile line landline sim guy lady girl man dude buddy bro mate pal person people sorry excuse please pls plz thanks thank hi hello hey oh ok okay um tf who whos whom dis what whats which how why where get got gotten have had has hasnt havent own owns owned use uses used using belong belongs belonged to of at for with by from in and or but so because now currently anymore longer any anyone anybody someone somebody else another other different new old previous former prior owner owners know knew known think thinks thought guess believe pretty sure maybe must probably just only recently ago last week month months weeks few couple since text texts texting texted txt message messages messaging messaged msg msgs send sending sent contact contacting contacted call calling called dial dialed dialled reach reached reaching trying tryna try look looking find want wanted wanting mean meant intended supposed ask asked sign signed signing up register registered enroll enrolled join joined subscribe subscribed opted program programme study anything something stuff them they theyre she shes he hes her his him hers their son daughter mother mom mum dad father wife husband sister brother neighbor neighbour roommate coworker gave give given fake stop remove delete off list again name named by business company office clinic practice dental dentist dentists doctors law firm store shop restaurant salon bakery warehouse talking about idea clue correct right changed switched reassigned recycled gone moved live lives used inherited stranger confused mixed accidentally accident records database patient participant would could can check

ich bin mochten bist weg ist sind war waren habe hab haben hast hat hatte nicht kein keine keinen keiner keinem niemand niemanden nie niemals nirgends nirgendwo mehr hier da das dies diese dieser diesem diesen dieses es die der den dem des ein eine einen einer einem er sie du ihr ihnen ihm ihn ihre ihren ihrer sein seine mich mir sich dich euch uns wir mein meine meiner meinem falsche falschen falscher falschem falsch nummer nummern numer nr handynummer telefonnummer handy telefon diensthandy firmenhandy firmenanschluss firmentelefon anschluss person kontakt empfanger adressat vorbesitzer vorbesitzerin besitzer sorry entschuldigung entschuldigen verzeihung tut leid bitte danke hallo hi moin ok okay ja nein achso wer wen wem was welche welches welchem woher wie warum und aber sondern weil dass wohl bestimmt vielleicht wahrscheinlich sicher glaub glaube denke scheinbar anscheinend offenbar leider jetzt inzwischen mittlerweile seit erst neu neue neuer neues neulich vor kurzem letzter letzte woche monat monaten wochen tagen ein paar bekommen gekriegt ubernommen gehort gehoren an in auf von vom fur mit bei zu zum im am kenne kenn kennen kennst heisse heiss heissen heisst namens name namen mit dem gibt gibts wohnt arbeitet lebt jemand jemanden jemandem anderen anderer andere anderem anders meinen meinst meint meinten suchen suchst sucht such suche gesucht gemeint erreichen sprechen verwahlt verwahlen verbunden vertippt vertan geirrt irrtum irren verwechselt verwechseln verwechselst verwechslung versehen versehentlich nachricht nachrichten sms text texte schreiben schreibt schreib schreibst geschrieben schicken schickt schick senden sendet gesendet melden angemeldet registriert eingetragen anmelden teilgenommen angegeben gegeben programm studie coaching loschen loscht losch streichen streicht nimm nehmt meldet raus aus liste keine ahnung weiss worum geht davon nichts sohn tochter mutter vater mann frau herr herrn schwester bruder nachbarin nachbar kollege firma praxis arztpraxis zahnarztpraxis buro laden kanzlei restaurant werkstatt apotheke klinik dienstlich geschaftlich gewechselt geandert aufhoren horen hort auf bekam ging gedacht so einfach auch doch mal denn hatten als wurde wird werden

yo soy equivoca ayer equivocan les eres es son era eran fue esta este esto estas estan estos ese esa eso no ni nunca nadie ningun ninguna ninguno aqui aca ahi alla el la los las lo le les un una unos uno de del al a en con por para mi mio mia mis me te se nos su suyo suya sus tu tus usted ustedes ella ellos que quien quienes cual como donde y o pero sino porque ya ahora hace poco tiempo semana pasada mes desde tengo tiene tienen tienes hay numero num nro nr telefono celular cel movil linea chip equivocado equivocada equivocados equivocaron equivoco equivocas equivocaste equivoque incorrecto incorrecta errado errada erroneo mal error equivocacion confusion confunde confunden confundido confundiendo confundes persona dueno duena anterior antiguo nuevo nueva otra otro otras otros alguien compa amigo senor senora sr sra senorita disculpe disculpa disculpen perdon perdone lo siento por favor porfa gracias hola si creo parece seguro seguramente quiza conozco conoce se sabe idea llamo llama nombre busca buscan buscas buscando buscaba hablar hablo hablas habla quiere quieren contactar vive trabaja usa pertenece cambio numero di dio dieron dar acaban recien compre inscribi inscrito inscrita registre registrado registrada apunte suscribi anote firme uni pedi acepte meti nada ningun programa estudio grupo mensaje mensajes sms texto textos escriban escriba escriben escribe escribiendo escribas manden mande mandan envien envia llego llegan llegando molesten molestar dejen deje dejar borren borre quiten quite hijo hija papa mama madre padre esposo esposa marido hermano hermana vecino vecina falso empresa negocio oficina consultorio clinica tienda taller restaurante farmacia escuela dental medico he ha han haber consiguieron consiguio conseguiste obtuvo obtuvieron tan tambien solo era iba verdad vez

je jai fait lancien lancienne nutilise nutilisez jetais parti partie utilise du dautre davoir dit jappelle jai ne nai pas plus jamais personne aucun aucune rien nulle part ici la le les l un une des de du d au aux a en sur pour par avec dans ce cet cette ces cest cetait etait ca cela il ils elle elles on nous vous tu te ta ton toi moi me mon ma mes son sa ses leur lui est es etes sont suis etre ai as avez avons ont avait ete et ou mais que qui quel quelle quoi comment pourquoi deja depuis recemment peu temps semaine derniere mois jours maintenant numero num tel telephone portable ligne puce mauvais mauvaise faux bon bonne erreur trompe trompes trompez tromper trompee confondez confonds confusion destinataire correspondant contact proprietaire ancien ancienne precedent nouveau nouvelle autre autres quelquun desole desolee pardon excusez excuse moi merci sil plait svp stp bonjour bonsoir salut oui non ah mec monsieur madame mme mlle mr m crois pense doit devez surement peut connais connait connaitre sais idee mappelle appelle sappelle nom nomme cherche cherchez cherches voulez veux joindre parler contacter habite travaille appartient celui celle cellui change recu recois recuperer recupere obtenu avoir viens venons inscrit inscrite inscrits minscris suis abonne abonnee rejoint demande accepte programme etude service message messages sms texto textos ecrire ecrivez ecris envoyer envoyez envoie contactez arretez arreter retirez retirer supprimez supprimer liste fils fille mere pere mari femme frere soeur voisin voisine collegue donne entreprise societe bureau cabinet medical dentaire dentiste magasin boutique restaurant garage pharmacie ecole professionnel pro nest nes netes netait na navez nen ny y quil quelle cetes tes tas ya sais jamais dun dune mest mavez mavoir meme toujours sest surtout

eu sou ligou pro telefonou ontem saiu dado ter e eh foi era eram esta ta to tou estao sao este esse essa isso isto aquele ele ela eles elas voce voces vc vcs tu nao nunca ninguem nenhum nenhuma aqui ai la o os as um uma de do da dos das dele dela no na nos nas em pra pro para por pelo com meu minha meus minhas seu sua seus me te se mim lhe que quem qual como onde porque e ou ja mais agora faz pouco tempo semana passada mes desde tenho tem temos tinha ha numero num nr celular telefone linha chip errado errada errados incorreto trocado errou erraram errei engano enganou enganaram enganado enganada engane equivocado confundindo confundiu confundiram confusao pessoa contato destinatario dono dona anterior antigo antiga novo nova outro outra outros outras alguem parceiro amigo amiga moco moca cara senhor senhora seu sr sra dona desculpa desculpe perdao favor pf pfv obrigado obrigada oi ola sim acho creio parece deve ser conheco conhece sei sabe ideia faco menor chamo chama nome procura procuram procurando procuro quer querem falar fala falando mora trabalha usa pertence mudou trocou mudei peguei comprei ganhei pegou conseguiu conseguiram pegaram acharam arrumaram inscrevi inscrita inscrito cadastrei cadastrado cadastrada registrei assinei entrei participei pedi aceitei nada programa estudo grupo mensagem mensagens sms texto mandem mandar mande manda mandou mandaram escrevam escrever envie enviem enviou recebendo recebo recebi parem pare parar tirem tire apaguem remova filho filha pai mae marido esposa mulher irmao irma vizinho vizinha deu falso empresa loja escritorio consultorio clinica padaria restaurante oficina farmacia escola medico trata sobre tambem so mesmo nem sido
`)

// personNames are frequent first names, which a text may have where no honorific tells.
var personNames = text.WordSet(`
ada adam adriana ahmed alain alejandra alejandro alex alexander alexandre ali alice alicia aline amanda amy ana andre andrea andreas andres andrew angela anja anna anne anthony antoine antonia antonio arthur ashley aurelie ayse barbara beatriz becker becky ben bernard bernd bianca birgit bob brandon brenda brian bruna bruno camila camille carl carla carlos carmen carol carolina caroline catherine celine charles charlotte chloe chris christian christina christine cindy claire clara claudia cristina dan dana daniel daniela dave david debbie denise derek diana diane diego dieter dirk donna dorothee dupont durand eduardo elena elias elisabeth elizabeth emily emma eric erik ernesto eva fabio fatima felipe felix fernanda fernando finn fischer florian francisca francisco francois francoise frank gabriel gabriela gary george gisela gloria greg guillaume gustavo hannah hans heather heike heinz helena helga henry hoffmann hugo ines inge isabel isabelle jack jacques jamal james jan jana jane javier jean jeff jen jennifer jenny jessica jessie jim joana joao joe johanna john jonas jorge jose joseph josh juan juana jules julia julian juliana julie julien jurgen karen karim karin karl kate katharina kathrin katja katrin keisha kelly kevin kim klaus kurt kyle larissa larry lars latoya laura laurent lea lena leo leon leticia linda lisa louis lucas lucia luciana lucie luis luiz lukas manon manuel manuela marc marcelo marcia marco marcos marcus maria mariana marie mario marion mark markus marta martha martin martine mary mateo mathieu matt matthias max maxime megan mehmet meier melanie melissa mia michael michel michelle miguel mike miriam mohamed monica monika monique moritz muller murat nadia nadine nancy natalia nathalie nicolas nicole nina olivia olivier otto pablo pamela patricia patrick paul paula pauline paulo pedro peter petra philipp philippe pierre priya rachel rafael ralf raquel rebecca renata renate ricardo richard rita robert roberto rodrigo romain rosa ruth ryan sabine sam samuel sandra sandrine sara sarah schmidt schneider scott sebastian sergio sharon silke silva silvia simon simone sofia sonia sophia sophie stefan stefanie stephanie steve steven susan susana susanne sven sylvie tania tanja tanya teresa theo thiago thomas thomass tiago tim tina tobias tom tomas tony tracy tyler ulrike ursula uwe valerie vanessa veronica victor vincent vitor walter weber werner wolfgang yvonne
`)

// deniedName finds that a person of some name, which stands as @, is not here, not known, or
// has the number no more.
var deniedName = compileAny(`(?:not|isnt|aint|no|any|nicht|keine?n?|ningun[oa]?|pas|aucune?|nenhuma?|nao|dont know)(?: (?:a|o|la|el|die|der|frau|herr|soy|sou|e|es|hay|de|called|named|tem|mehr|conozco|conheco|connais|know|who|is)){0,2} @`,
	`(?:who is|whos|wer ist|quien es|qui est|quem e(?: a| o)?) @ .*(?:number|nummer|numero)`, `@ (?:nao|ya no|doesnt|no longer|na plus|nutilise plus) .*(?:number|phone|numero|celular|telefon\w*|portable|telephone)`)

// namings are words that name a person or what a number belongs to, whatever they are.
var namings = regexp.MustCompile(`\b(?:(?:mrs?|ms|miss|mister|dr|frau|herrn?|senora?|sra?|don|dona|m|mme|madame|monsieur|seu)(?: ,)? \w+|(?:for|seit|depuis|desde|hace) (?:\w+ )?(?:years|jahren|ans|anos)|(?:(?:my )?name is|(?:ich )?heisse|me llamo|mi nombre es|je mappelle|meu nome e|me chamo) \w+|\w+s (?:number|phone|cell)|work (?:cell|phone|number|line)|(?:del|do) trabal?[jh]o|(?:du|de mon|mon) (?:boulot|travail)|(?:escriban?|manden?|molesten?|envien?) mas|bom dia|boa (?:tarde|noite)|buen[oa]s (?:dias|tardes|noches)|guten (?:tag|morgen|abend))\b`)

// wrongNamed finds a number or a person that is wrong, another or new.
var wrongNamed = regexp.MustCompile(`\b(?:(?:wrong|other|another|new|mistaken|incorrect) (?:number|num|phone|person|guy|contact)|(?:falsche|andere|neue)[nrm]? (?:nummer|nr|person|handynummer|handy)|(?:numero|num|nro|telefono|celular|telefone|persona|pessoa|contato) (?:equivocad|errad|incorrect|incorret|nuev|nov|trocad)[oa]|(?:otra|outra) (?:persona|pessoa)|(?:mauvais|faux|mauvaise|autre|nouveau) (?:numero|num|personne|tel\w*))\b`)

// ownSlip finds that the person reached another, or says that they were mistaken themselves.
var ownSlip = compileAny(
	`i (?:have |just |accidentally )*(?:called|texted|dialed|dialled|messaged|sent|wrote|contacted|emailed)`, `(?:hab|habe) (?:\w+ ){0,5}(?:geschrieben|angerufen|geschickt|gesendet|verwahlt|vertippt|vertan|geirrt|verwechselt)`,
	`(?:marque|llame a|escribi|mande|me equivoque|me confundi)`, `jai (?:\w+ ){0,3}(?:fait|appele|ecrit|envoye|compose)`, `je me suis tromp\w+`, `(?:liguei|mandei|escrevi|errei|me confundi|me enganei|engano meu (?:,.*)|engano meu$)`,
)

// tooLittle finds texts that are no more than an answer to a question about someone.
var tooLittle = regexp.MustCompile(`^(?:(?:ich )?kenne? (?:ich )?(?:sie|ihn|euch|dich|die|den) nicht|no (?:lo|la|los|las|te) conozco|i dont know (?:you|him|her)|je (?:ne )?(?:le |la |les |vous |te )connais pas|nao (?:o |a |te )?conheco|otra persona|outra pessoa|vertippt|verwechslung|was a mistake|not for me|no es para mi|pas (?:pour moi|elle|lui)|das (?:war|ist) nicht fur mich|hier gibt es nichts|not me|no soy yo|nao sou eu|who is this for|it was the wrong one|no conozco a nadie(?: aqui)?|nao conheco ninguem(?: aqui)?|tu te trompes|vous vous trompez|voce errou)$`)

// maybeWrong is how many other words a text has at most that is asked about.
const maybeWrong = 2

// wrongTier says what becomes of rules that take a text for one of another person who has the
// number. It is plainly that where all its words are such a text's, or all but one beside two
// findings. Else what names a wrong, another or a new number or person is asked about.
func (s *scanner) wrongTier(body string, words []string, found []finding) tier {
	spelled, matches := s.wrongFindings(found)
	if matches == 0 && !slices.ContainsFunc(words, isFirstName) {
		return tierNone
	}
	clauses := joinClauses(body)
	if hasDeniedName(clauses) {
		matches++
	}
	if matches == 0 || ownSlip.MatchString(clauses) || tooLittle.MatchString(clauses) {
		return tierNone
	}
	others := 0
	for _, word := range strings.Fields(namings.ReplaceAllString(clauses, " ")) {
		if !wrongWords[word] && !spelled[word] && !isFirstName(word) {
			others++
		}
	}
	switch {
	case others == 0, others == 1 && matches > 1:
		return tierWrongNumber
	case others <= maybeWrong && wrongNamed.MatchString(clauses):
		return tierUnclear
	}
	return tierNone
}

// wrongFindings counts the places at which rules take a text for one of another person, and
// returns the words that are theirs: all of a short match, since it has no others however
// they are spelled, and of any a capitalised one, which tells a name but in German.
func (s *scanner) wrongFindings(found []finding) (spelled map[string]bool, matches int) {
	spelled = map[string]bool{}
	until := 0
	for _, f := range found {
		if f.rule.tier != tierWrongNumber {
			continue
		}
		if f.from >= until {
			matches++
		}
		until = max(until, f.to)
		for i := f.from; i < f.to; i++ {
			if f.to-f.from <= 2 || s.tokens.spans[i].isName && f.set.language != "de" {
				spelled[string(s.tokens.textAt(i))] = true
			}
		}
	}
	return spelled, matches
}

// hasDeniedName reports whether a text says that a person of some name is not here.
func hasDeniedName(clauses string) bool {
	named := strings.Fields(clauses)
	for i, word := range named {
		if isFirstName(word) {
			named[i] = "@"
		}
	}
	return slices.Contains(named, "@") && deniedName.MatchString(strings.Join(named, " "))
}

// isFirstName reports whether a word is a name, also behind a French d'.
func isFirstName(word string) bool {
	return personNames[word] || word[0] == 'd' && personNames[word[1:]]
}
